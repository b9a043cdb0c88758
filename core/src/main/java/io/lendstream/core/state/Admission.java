package io.lendstream.core.state;

import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.WhenAbsent;
import java.util.Optional;

/**
 * The scheduler's answer to a job that asked for a hard deadline, or that could never run.
 *
 * @param admitted whether plans may give GPUs to the job
 * @param share GPUs that the answers to other jobs leave for it: the least number with which it ends before its hard
 *     deadline; 0 if it has none, if its work is not known, or if it cannot end by then
 * @param kind the kind of these GPUs; empty if kinds are not told apart
 * @param outdated whether its owner has described the refused job in another way since
 */
public record Admission(
        boolean admitted,
        int share,
        Optional<KindId> kind,
        @WhenAbsent("false") boolean outdated) {
    /** An answer to the present description of a job. */
    public Admission(boolean admitted, int share, Optional<KindId> kind) {
        this(admitted, share, kind, false);
    }

    /** The answer to an earlier description. */
    Admission toEarlier() {
        return new Admission(admitted, share, kind, true);
    }
}
