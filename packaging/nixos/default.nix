# A module for NixOS, with the program and the unit of a release. In configuration.nix:
#
#   imports = [ ./teamchat/nixos ];
#   services.teamchat.enable = true;
#   services.teamchat.release = ./teamchat-VERSION-ARCHITECTURE-linux;      # the unpacked archive
#   services.teamchat.settings.public-url = "https://chat.example.com";
#
# 'journalctl -u teamchat' shows the link that creates the owner.
{ config, lib, pkgs, ... }:

let
  given = config.services.teamchat;
  format = pkgs.formats.toml { };
  package = pkgs.runCommand "teamchat" { } ''
    install -D -m 755 ${given.release}/teamchat $out/bin/teamchat
    install -D -m 644 -t $out/share/man/man1 ${given.release}/man/*.1
    mkdir -p $out/lib/systemd/system
    # Variables of the environment come before the settings of the file.
    sed -e '/^Environment=/d' -e 's|/bin/kill|${pkgs.coreutils}/bin/kill|' \
      -e "s|/usr/local/bin/teamchat serve|$out/bin/teamchat serve --config ${settings}|" \
      ${given.release}/teamchat.service > $out/lib/systemd/system/teamchat.service
  '';
  settings = format.generate "teamchat.toml" given.settings;
in
{
  options.services.teamchat = {
    enable = lib.mkEnableOption "the team chat server";
    release = lib.mkOption {
      type = lib.types.path;
      description = "The unpacked archive of a release.";
    };
    settings = lib.mkOption {
      type = format.type;
      default = { };
      description = "Settings of the server, by their names in its configuration file.";
    };
  };

  config = lib.mkIf given.enable {
    services.teamchat.settings = {
      db = lib.mkDefault "/var/lib/teamchat/chat.sqlite";
      listen = lib.mkDefault [ "127.0.0.1:9991" ];
    };
    environment.systemPackages = [ package ];
    systemd.packages = [ package ];
    systemd.services.teamchat.wantedBy = [ "multi-user.target" ];
  };
}
