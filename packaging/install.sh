#!/bin/sh
# Installs a release of teamchat from a folder with its files:
#
#   sh install.sh --key PUBLIC_KEY [FOLDER]      checks the signature with minisign, and installs
#   sh install.sh --unsigned [FOLDER]            checks only that the files are complete
#   sh install.sh --uninstall                    removes the program and the unit, and leaves the data
#
# PUBLIC_KEY is the key of the author of the release, as text or as a file. Do not take it from the same place as the release.
# FOLDER is this script's own by default. --root DIRECTORY installs below it, and starts nothing.
#
# It writes /usr/local/bin/teamchat, manual pages in /usr/local/share/man/man1, and where systemd runs
# /etc/systemd/system/teamchat.service, which it starts. The data is in /var/lib/teamchat.
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
unit=/etc/systemd/system/teamchat.service
systemd=''
[ -z "$root" ] && [ -d /run/systemd/system ] && systemd=yes

if [ -n "$uninstall" ]; then
    [ -z "$systemd" ] || systemctl disable --now teamchat || true
    rm -f "$root/usr/local/bin/teamchat" "$root$unit" "$root"/usr/local/share/man/man1/teamchat*.1
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
grep -F "  $archive" SHA256SUMS | sha256sum -c --quiet - || fail "$archive is not what SHA256SUMS says: nothing was installed"

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
tar -xzf "$archive" -C "$temporary"
cd "$temporary"/*
mkdir -p "$root/usr/local/bin" "$root/usr/local/share/man/man1"
# Renamed into place, so that a running server keeps its file.
cp teamchat "$root/usr/local/bin/teamchat.new"
chmod 755 "$root/usr/local/bin/teamchat.new"
mv "$root/usr/local/bin/teamchat.new" "$root/usr/local/bin/teamchat"
cp man/*.1 "$root/usr/local/share/man/man1/"
echo "Installed $root/usr/local/bin/teamchat: $("$root/usr/local/bin/teamchat" --version)"
if [ -z "$systemd" ]; then
    echo "systemd does not run here: start the server with  teamchat serve --db FILE"
    exit
fi
# A unit that was changed is kept; settings belong into 'systemctl edit teamchat'.
[ -e "$unit" ] || cp teamchat.service "$unit"
systemctl daemon-reload
systemctl enable teamchat
systemctl restart teamchat
echo "The server runs. 'journalctl -u teamchat' shows the link that creates the owner."
