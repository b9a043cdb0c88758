package io.lendstream.schemas.snapshot;

import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.persistent.Bytes;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.SnapshotPart;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/**
 * The parts of a snapshot, encoded one at a time. A state does not change, so its parts may be written between the
 * events that follow it. Equal states give equal parts.
 *
 * <p>A part has whole entries: each is its kind, its length and its Avro form. The first entries are the schemas, each
 * with the negative number of its kind.
 */
public final class SnapshotWriting implements Iterator<SnapshotPart> {
    /** The encoding that this version writes. */
    static final int ENCODING = 1;

    /** The size of a part before compression, in bytes, unless one entry is larger. A broker takes 1 MB. */
    public static final int PART_BYTES = 32 << 10;

    private final ClusterState state;
    private final SchedulerStarted scheduler;
    private final String version;
    private final int partBytes;
    private final Iterator<Entry> entries;
    private final CRC32 checksum = new CRC32();
    private int part;
    private boolean complete;

    private record Entry(SnapshotEntry kind, Object value) {}

    /**
     * Begins a snapshot.
     *
     * @param scheduler the scheduler in office
     * @param version of this program
     * @param partBytes size of a part before compression
     */
    public SnapshotWriting(ClusterState state, SchedulerStarted scheduler, String version, int partBytes) {
        this.state = state;
        this.scheduler = scheduler;
        this.version = version;
        this.partBytes = partBytes;
        this.entries = Stream.of(
                        entries(SnapshotEntry.HEADER, List.of(SnapshotHeader.of(state))),
                        entries(SnapshotEntry.NODE, state.nodes().values()),
                        entries(SnapshotEntry.GPU, state.gpus().values()),
                        entries(SnapshotEntry.SERVICE, state.services().values()),
                        entries(SnapshotEntry.JOB, state.jobs().values()),
                        entries(SnapshotEntry.QUEUE, state.queues().values()),
                        entries(SnapshotEntry.ACTUATOR, state.actuators().values()),
                        entries(
                                SnapshotEntry.APPLICATION,
                                state.entities().applications().byName().values()))
                .flatMap(each -> each)
                .iterator();
    }

    private static Stream<Entry> entries(SnapshotEntry kind, Iterable<?> values) {
        return StreamSupport.stream(values.spliterator(), false).map(value -> new Entry(kind, value));
    }

    @Override
    public boolean hasNext() {
        return !complete;
    }

    @Override
    public SnapshotPart next() {
        if (complete) {
            throw new NoSuchElementException("the last part was written");
        }
        byte[] content = content();
        complete = !entries.hasNext();
        checksum.update(content);
        SnapshotPart next = new SnapshotPart(
                state.domain(),
                state.position(),
                scheduler,
                version,
                ENCODING,
                part,
                complete,
                checksum.getValue(),
                Bytes.of(content));
        part++;
        return next;
    }

    private byte[] content() {
        ByteArrayOutputStream packed = new ByteArrayOutputStream(partBytes / 4);
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        try (DataOutputStream out = new DataOutputStream(new DeflaterOutputStream(packed, deflater))) {
            if (part == 0) {
                for (SnapshotEntry kind : SnapshotEntry.values()) {
                    write(out, -1 - kind.number(), EntryCodecs.text(kind));
                }
            }
            int begun = out.size();
            while (entries.hasNext() && out.size() - begun < partBytes) {
                Entry entry = entries.next();
                write(out, entry.kind().number(), EntryCodecs.write(entry.kind(), entry.value()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            deflater.end();
        }
        return packed.toByteArray();
    }

    private static void write(DataOutputStream out, int kind, byte[] entry) throws IOException {
        out.writeByte(kind);
        out.writeInt(entry.length);
        out.write(entry);
    }
}
