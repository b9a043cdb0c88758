package io.lendstream.agent.publish;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;

/**
 * A queued record, without the data that only the registry has.
 *
 * @param topic without the prefix
 * @param id CloudEvents ID; equal for every attempt
 * @param at the record's own time
 * @param remarks words on how it was made, separated by commas; empty for none
 * @param schema fingerprint of the schema of {@code body}
 * @param body in Avro's binary form
 */
@SuppressWarnings("ArrayRecordComponent") // instances are never compared
record Waiting(String topic, String key, String id, Instant at, String remarks, long schema, byte[] body) {

    byte[] toBytes() {
        var bytes = new ByteArrayOutputStream(body.length + 128);
        try (var out = new DataOutputStream(bytes)) {
            out.writeUTF(topic);
            out.writeUTF(key);
            out.writeUTF(id);
            out.writeLong(at.toEpochMilli());
            out.writeUTF(remarks);
            out.writeLong(schema);
            out.writeInt(body.length);
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static Waiting of(byte[] bytes) throws IOException {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            return new Waiting(
                    in.readUTF(),
                    in.readUTF(),
                    in.readUTF(),
                    Instant.ofEpochMilli(in.readLong()),
                    in.readUTF(),
                    in.readLong(),
                    in.readNBytes(in.readInt()));
        }
    }
}
