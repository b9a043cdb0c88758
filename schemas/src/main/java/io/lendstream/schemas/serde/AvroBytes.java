package io.lendstream.schemas.serde;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Avro's binary form of a record, without a frame; logical types stay plain numbers. */
public final class AvroBytes {
    private static final GenericData DATA = new GenericData();

    private AvroBytes() {}

    public static byte[] write(GenericRecord record) {
        return write(new byte[0], record);
    }

    static byte[] write(byte[] header, GenericRecord record) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(256);
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(out, null);
        try {
            out.write(header);
            new GenericDatumWriter<GenericRecord>(record.getSchema(), DATA).write(record, encoder);
            encoder.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /** Reads bytes written with {@code writer} as a record of {@code reader}. */
    public static GenericRecord read(byte[] bytes, Schema writer, Schema reader) throws IOException {
        return read(bytes, 0, writer, reader);
    }

    private static GenericRecord read(byte[] bytes, int offset, Schema writer, Schema reader) throws IOException {
        return read(bytes, offset, reader(writer, reader));
    }

    /** A reader of bytes written with {@code writer} as records of {@code reader}; threads may share it. */
    static DatumReader<GenericRecord> reader(Schema writer, Schema reader) {
        return new GenericDatumReader<>(writer, reader, DATA);
    }

    static GenericRecord read(byte[] bytes, int offset, DatumReader<GenericRecord> reader) throws IOException {
        BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(bytes, offset, bytes.length - offset, null);
        GenericRecord record = reader.read(null, decoder);
        if (!decoder.isEnd()) {
            throw new IOException("%d bytes are left over after the record"
                    .formatted(decoder.inputStream().available()));
        }
        return record;
    }

    /** Converts a record to the schema {@code reader}: fields by name, defaults for missing ones. */
    public static GenericRecord resolve(GenericRecord record, Schema reader) {
        if (record.getSchema().equals(reader)) {
            return record;
        }
        try {
            return read(write(record), record.getSchema(), reader);
        } catch (IOException | AvroRuntimeException e) {
            throw new UndecodableRecordException(
                    "a record of %s cannot be read as %s: %s"
                            .formatted(record.getSchema().getFullName(), reader.getFullName(), e),
                    e);
        }
    }
}
