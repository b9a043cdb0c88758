package io.lendstream.actuator;

import io.lendstream.actuator.jobs.PrivateFiles;
import io.lendstream.schemas.codec.RecordMapper;
import io.lendstream.schemas.codec.SchemaDerivation;
import io.lendstream.schemas.codec.mapping.Strictness;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.text.FileErrors;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An actuator's state on disk. It is an Avro file that is replaced atomically, so a crash leaves the old or the new
 * one.
 */
final class StateFile {
    private static final Logger LOG = LoggerFactory.getLogger(StateFile.class);
    private static final Schema SCHEMA = SchemaDerivation.of(ActuatorState.class);
    private static final RecordMapper<ActuatorState> MAPPER =
            RecordMapper.of(ActuatorState.class, SCHEMA, Strictness.CLAMP);

    private final Path file;

    private StateFile(Path file) {
        this.file = file;
    }

    /** The state file in a directory, which is created if it does not exist. */
    static StateFile in(Path directory) {
        try {
            Files.createDirectories(directory);
            if (!Files.isWritable(directory)) {
                throw new IOException("it is not writable");
            }
        } catch (IOException e) {
            throw new SettingsException(
                    "actuator.state-dir is %s, which cannot be used: %s. Name a directory that this user may write to."
                            .formatted(directory, FileErrors.ofDirectory(e)),
                    e);
        }
        return new StateFile(directory.resolve("actuator.avro"));
    }

    /** The last saved state; empty if there is none, or none that can be read. */
    Optional<ActuatorState> load() {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try (var records = new DataFileReader<GenericRecord>(
                new File(file.toString()), new GenericDatumReader<GenericRecord>(SCHEMA, SCHEMA))) {
            return records.hasNext() ? Optional.of(MAPPER.decode(records.next())) : Optional.empty();
        } catch (IOException | RuntimeException e) {
            LOG.warn("cannot read {}; the state is rebuilt from the topics: {}", file, e.getMessage());
            return Optional.empty();
        }
    }

    /** Removes the saved state: the next start rebuilds it from the topics. */
    void remove() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + file, e);
        }
    }

    void save(ActuatorState state) {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        try {
            PrivateFiles.empty(fresh);
            try (OutputStream out = Files.newOutputStream(fresh);
                    var records = new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(SCHEMA))) {
                records.create(SCHEMA, out);
                records.append(MAPPER.encode(state));
            }
            try (FileChannel written = FileChannel.open(fresh, StandardOpenOption.WRITE)) {
                written.force(true);
            }
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }
}
