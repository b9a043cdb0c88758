package io.lendstream.core.state;

import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.Checks;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.persistent.Bytes;
import io.lendstream.core.persistent.Flat;

/**
 * A part of a snapshot: the state of a domain after an event of its log. The parts of a snapshot have the same
 * position; together they are enough to replay the log from there.
 *
 * @param position the last event that the state contains, with its time and epoch
 * @param scheduler the scheduler in office then, as its start in the log describes it
 * @param version the version of the program that wrote it; for people
 * @param encoding how the contents are encoded; a reader passes over encodings that it does not know
 * @param part 0, 1, 2, ... within the snapshot
 * @param last whether no part follows
 * @param checksum CRC-32 of the contents of this part and of all parts before it
 * @param content compressed entries of the state
 */
public record SnapshotPart(
        DomainId domain,
        @Flat LogPosition position,
        SchedulerStarted scheduler,
        String version,
        int encoding,
        int part,
        boolean last,
        long checksum,
        Bytes content) {
    public SnapshotPart {
        Checks.atLeast("part", 0, part);
    }

    /** Whether both are of the same snapshot. */
    public boolean isOfSame(SnapshotPart other) {
        return domain.equals(other.domain) && position.equals(other.position);
    }
}
