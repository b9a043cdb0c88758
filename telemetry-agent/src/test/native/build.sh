#!/bin/sh
# Builds the double of NVML: build.sh LIBRARY new|old. "old" lacks the symbols that drivers before R470 lack. Several are loaded at
# once, and each must call itself: hence -Bsymbolic.
set -eu
library=$1
case $2 in
    new) kind=NEW_DRIVER ;;
    old) kind=OLD_DRIVER ;;
    *) echo "build.sh: the second argument is $2, but must be new or old" >&2 && exit 2 ;;
esac
cd "$(dirname "$0")"
exec cc -shared -fPIC -O1 -Wall -Werror "-D$kind" -Wl,-Bsymbolic -Wl,-soname,libnvidia-ml.so.1 -o "$library" ./*.c -ldl -lpthread
