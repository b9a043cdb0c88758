#!/usr/bin/env bash
# Makes what a secured broker and its clients need, for trying: deploy/secure/prepare.sh DIR [NAME...] writes to DIR
#   broker.p12                    the broker's key, for localhost and the NAMEs, signed by itself; trusted.pem is its certificate
#   passwords.properties          a password for every file in deploy/acl, for lendstream acls apply --passwords
#   broker.env                    the broker's settings, as Kafka's image takes them
#   broker.properties             the same, as a broker takes them
#   USER.properties, admin.properties   what each service and the administrator are given with --config
# What is there already stays. Where you have certificates and users of your own, only the last ones are of interest.
set -euo pipefail
out=${1:?Usage: deploy/secure/prepare.sh DIR [NAME...]}
shift
acls=$(cd "$(dirname "${BASH_SOURCE[0]}")/../acl" && pwd)
keytool=${JAVA_HOME:+$JAVA_HOME/bin/}keytool
if [ -e "$out/broker.properties" ]; then
    echo "kept what $out has; remove it for new keys, names and passwords." >&2
    exit 0
fi
[ ! -e "$out" ] || rmdir "$out" 2>/dev/null || {
    echo "$out is there and is not ours; give a directory that is not there yet." >&2
    exit 1
}
umask 077
mkdir -p "$(dirname "$out")"
final=$(cd "$(dirname "$out")" && pwd)/$(basename "$out")
# It is there as a whole or not at all.
trap 'rm -rf "$final.new"' EXIT
rm -rf "$final.new"
mkdir "$final.new"
cd "$final.new"

secret() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }

names=dns:localhost,ip:127.0.0.1
for name; do names=$names,dns:$name; done
store=$(secret)
"$keytool" -genkeypair -alias broker -keyalg EC -groupname secp256r1 -validity 365 -dname CN=lendstream-broker \
    -ext "san=$names" -storetype PKCS12 -keystore broker.p12 -storepass "$store" 2>keytool.log || {
    cat keytool.log >&2
    exit 1
}
rm keytool.log
# As one line, in which a properties file has \n for the end of a line.
trusted=$("$keytool" -exportcert -rfc -alias broker -keystore broker.p12 -storepass "$store" 2>/dev/null | tr -d '\r' |
    awk 'NF { printf "%s\\n", $0 }')
printf '%b' "$trusted" >trusted.pem

client() { # user, mechanism, module, password
    cat <<CLIENT
kafka.security.protocol=SASL_SSL
kafka.sasl.mechanism=$2
kafka.sasl.jaas.config=org.apache.kafka.common.security.$3 required username="$1" password="$4";
kafka.ssl.truststore.type=PEM
kafka.ssl.truststore.certificates=$trusted
CLIENT
}

: >passwords.properties
for file in "$acls"/*.acl; do
    user=$(basename "$file" .acl)
    password=$(secret)
    echo "$user=$password" >>passwords.properties
    client "$user" SCRAM-SHA-512 scram.ScramLoginModule "$password" >"$user.properties"
done

# The broker and the administrator must be known before the first connection: their passwords are in its settings.
broker=$(secret)
admin=$(secret)
client admin PLAIN plain.PlainLoginModule "$admin" >admin.properties
plain="org.apache.kafka.common.security.plain.PlainLoginModule required username=\"broker\" password=\"$broker\" user_broker=\"$broker\" user_admin=\"$admin\";"
scram="org.apache.kafka.common.security.scram.ScramLoginModule required;"

setting() { # name, value
    echo "$1=$2" >>broker.properties
    # Kafka's image takes ___ for a dash.
    echo "KAFKA_$(tr 'a-z.' 'A-Z_' <<<"$1" | sed 's/-/___/g')=$2" >>broker.env
}
: >broker.env
setting authorizer.class.name org.apache.kafka.metadata.authorizer.StandardAuthorizer
setting super.users 'User:broker;User:admin'
setting allow.everyone.if.no.acl.found false
setting sasl.enabled.mechanisms SCRAM-SHA-512,PLAIN
setting sasl.mechanism.inter.broker.protocol PLAIN
setting sasl.mechanism.controller.protocol PLAIN
for listener in plaintext internal external controller; do
    setting "listener.name.$listener.plain.sasl.jaas.config" "$plain"
    setting "listener.name.$listener.scram-sha-512.sasl.jaas.config" "$scram"
done
setting listener.name.controller.sasl.enabled.mechanisms PLAIN
cat >>broker.env <<BROKER
KAFKA_SSL_KEYSTORE_TYPE=PKCS12
KAFKA_SSL_KEYSTORE_LOCATION=/etc/kafka/secrets/broker.p12
KAFKA_SSL_KEYSTORE_PASSWORD=$store
KAFKA_SSL_KEY_PASSWORD=$store
KAFKA_SSL_TRUSTSTORE_TYPE=PEM
KAFKA_SSL_TRUSTSTORE_LOCATION=/etc/kafka/secrets/trusted.pem
BROKER
cat >>broker.properties <<BROKER
ssl.keystore.type=PKCS12
ssl.keystore.location=$final/broker.p12
ssl.keystore.password=$store
ssl.key.password=$store
ssl.truststore.type=PEM
ssl.truststore.certificates=$trusted
BROKER
# Containers have users of their own, and are given single files; the directory is its owner's.
chmod 644 -- *
chmod 700 .
mv "$final.new" "$final"
