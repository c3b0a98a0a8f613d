# The script that makes the package of packaging/nixos, with stand-ins for what the module takes from Nixpkgs:
#
#   nix-instantiate --eval --json --store dummy:// --argstr release FOLDER tests/packages/nixos.nix
{ release }:

let
  lib = {
    mkDefault = value: value;
    mkEnableOption = description: { };
    mkIf = condition: content: if condition then content else { };
    mkOption = option: option;
    types.path = "path";
  };
  pkgs = {
    coreutils = "/usr";
    formats.toml = options: { type = "toml"; generate = name: value: "/settings.toml"; };
    runCommand = name: environment: script: script;
  };
  module = import ../../packaging/nixos {
    inherit lib pkgs;
    config.services.teamchat = { inherit release; enable = true; settings = { }; };
  };
  inherit (module.config) environment services systemd;
in

assert services.teamchat.settings == { db = "/var/lib/teamchat/chat.sqlite"; listen = [ "127.0.0.1:9991" ]; };
assert systemd.services.teamchat.wantedBy == [ "multi-user.target" ];
assert systemd.packages == environment.systemPackages;
builtins.head systemd.packages
