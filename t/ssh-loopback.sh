#!/bin/bash
# ssh-loopback.sh start|stop DIR N - N ssh servers on this machine's loopback, called m1, m2, .., each with a home of its
# own, keys and all state in DIR; for the tests of wide stages.  DIR/ssh is the client's file: ssh -F DIR/ssh m1 true.
set -euo pipefail
verb=$1 dir=$2 n=${3:-2}
if [ "$verb" = stop ]; then
    for f in "$dir"/m*.pid; do [ ! -s "$f" ] || kill "$(<"$f")" 2> /dev/null || true; done
    exit 0
fi
mkdir -p "$dir" /run/sshd
chmod 700 "$dir"
for key in user host; do [ -s "$dir/$key" ] || ssh-keygen -q -t ed25519 -N '' -f "$dir/$key"; done
: > "$dir/ssh"
base=$((20000 + $$ % 20000))
for ((i = 1; i <= n; i++)); do
    mkdir -p "$dir/home-m$i"
    cat > "$dir/m$i.conf" << END
Port $((base + i))
ListenAddress 127.0.0.1
HostKey $dir/host
AuthorizedKeysFile $dir/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 100
MaxSessions 100
PidFile $dir/m$i.pid
SetEnv HOME=$dir/home-m$i PATH=$dir/home-m$i/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
END
    /usr/sbin/sshd -f "$dir/m$i.conf" -E "$dir/m$i.log"
    cat >> "$dir/ssh" << END
Host m$i
    HostName 127.0.0.1
    Port $((base + i))
    IdentityFile $dir/user
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
END
done
for ((i = 1; i <= n; i++)); do
    for try in 1 2 3 4 5 6 7 8 9; do ssh -F "$dir/ssh" "m$i" true 2> "$dir/why" && break; sleep 0.2; done
    [ "$try" != 9 ] || { cat "$dir/why" "$dir/m$i.log" >&2; exit 1; }
done
