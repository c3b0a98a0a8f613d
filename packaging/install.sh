#!/bin/sh
# Installs a release of teamchat from a folder with its files:
#
#   sh install.sh --key PUBLIC_KEY [FOLDER]      checks the signature with minisign, and installs
#   sh install.sh --unsigned [FOLDER]            checks only that the files are complete
#   sh install.sh --uninstall                    removes the program and the unit, and leaves the data
#
# PUBLIC_KEY is the key of the author of the release, as text or as a file. Do not take it from the same place as the release.
# FOLDER is the folder of this script by default. --root DIRECTORY installs below DIRECTORY, and starts nothing.
#
# It writes the program to /usr/local/bin, manual pages and completions of shells to /usr/local/share, and a unit to
# /usr/local/lib/systemd/system, which it starts where systemd runs. The data is in /var/lib/teamchat. A unit of the same name in
# /etc/systemd/system has precedence, and is left as it is. Change settings with 'systemctl edit teamchat'.
set -eu

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

key='' signed=yes uninstall='' root='' folder=''
while [ $# -gt 0 ]; do
    case $1 in
    --key) key=${2:?--key needs a key} && shift ;;
    --root) root=${2:?--root needs a directory} && shift ;;
    --unsigned) signed='' ;;
    --uninstall) uninstall=yes ;;
    -*) fail "there is no option $1" ;;
    *) folder=$1 ;;
    esac
    shift
done
# Paths are those of the caller's folder, which is left below.
case $root in '' | /*) ;; *) root=$PWD/$root ;; esac
if [ -f "$key" ]; then key=$(realpath "$key"); fi
unit=/usr/local/lib/systemd/system/teamchat.service
share=/usr/local/share
bash_completion=$share/bash-completion/completions/teamchat
fish_completion=$share/fish/vendor_completions.d/teamchat.fish
zsh_completion=$share/zsh/site-functions/_teamchat
systemd=''
[ -z "$root" ] && [ -d /run/systemd/system ] && systemd=yes

if [ -n "$uninstall" ]; then
    [ -z "$systemd" ] || systemctl disable --now teamchat || true
    rm -f "$root/usr/local/bin/teamchat" "$root$unit" "$root$share"/man/man1/teamchat*.1 \
        "$root$bash_completion" "$root$fish_completion" "$root$zsh_completion"
    [ -z "$systemd" ] || systemctl daemon-reload
    echo "teamchat is removed. Its data is still in /var/lib/teamchat."
    exit
fi

folder=${folder:-$(dirname "$0")}
cd "$folder" || fail "there is no folder $folder"
folder=$PWD
[ -f SHA256SUMS ] || fail "$folder has no SHA256SUMS"
if [ -n "$signed" ]; then
    [ -n "$key" ] || fail "name the key of the release: --key PUBLIC_KEY (or --unsigned)"
    command -v minisign >/dev/null || fail "minisign is missing (on Debian: apt-get install minisign)"
    if [ -f "$key" ]; then set -- -p "$key"; else set -- -P "$key"; fi
    minisign -V -q "$@" -m SHA256SUMS || fail "SHA256SUMS is not signed with this key: nothing was installed"
    echo "The signature is good."
fi

case $(uname -m) in
x86_64) architecture=x86_64 ;;
aarch64 | arm64) architecture=aarch64 ;;
armv7l | armv8l) architecture=armv7 ;;
*) fail "there is no binary for $(uname -m)" ;;
esac
archive=$(sed -n "s/^[0-9a-f]*  \(teamchat-.*-$architecture-linux\.tar\.gz\)$/\1/p" SHA256SUMS)
[ -n "$archive" ] || fail "this release has no binary for $architecture"
grep -F "  $archive" SHA256SUMS | sha256sum -c --quiet - || fail "$archive does not match its checksum in SHA256SUMS: nothing was installed"

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
tar -xzf "$archive" -C "$temporary"
cd "$temporary"/*
# install_file FILE PATH: copies a file, and creates its folder.
install_file() {
    mkdir -p "$root$(dirname "$2")"
    cp "$1" "$root$2"
    chmod 644 "$root$2"
}
mkdir -p "$root/usr/local/bin"
# Renamed into place, so that a running server keeps its file.
cp teamchat "$root/usr/local/bin/teamchat.new"
chmod 755 "$root/usr/local/bin/teamchat.new"
mv "$root/usr/local/bin/teamchat.new" "$root/usr/local/bin/teamchat"
for page in man/*.1; do install_file "$page" "$share/man/man1/${page#man/}"; done
install_file completions/teamchat.bash "$bash_completion"
install_file completions/teamchat.fish "$fish_completion"
install_file completions/_teamchat "$zsh_completion"
install_file teamchat.service "$unit"
echo "Installed $("$root/usr/local/bin/teamchat" --version) in $root/usr/local/bin, with manual pages, completions, and the unit"
echo "$root$unit."
if [ -z "$systemd" ]; then
    echo "systemd does not run here: start the server with  teamchat serve --db FILE"
    exit
fi
if [ -e /etc/systemd/system/teamchat.service ]; then
    echo "/etc/systemd/system/teamchat.service replaces this unit. If you have not changed it, remove it to use the unit of this release."
fi
systemctl daemon-reload
systemctl enable teamchat
systemctl restart teamchat
echo "The server runs. 'journalctl -u teamchat' shows the link that creates the owner."
