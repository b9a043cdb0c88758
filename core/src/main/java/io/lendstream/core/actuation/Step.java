package io.lendstream.core.actuation;

import io.lendstream.core.cluster.GpuId;
import io.lendstream.core.cluster.Tenant;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.Timings;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Something an actuator will have done at a moment to come.
 *
 * @param order tells steps of the same moment apart: the one planned first goes first
 * @param decision the decision under which it will be reported
 * @param tenant whom it is about; nobody where GPUs are cut anew
 * @param gpus the GPUs that it is about; where they are cut anew, with the instances that go
 * @param reported whether it will be reported at all
 * @param reason what the report says beside the plain course; usually empty
 */
public record Step(
        Instant due,
        long order,
        Kind kind,
        DecisionId decision,
        Optional<Tenant> tenant,
        List<GpuId> gpus,
        Timings timings,
        boolean reported,
        String reason)
        implements Comparable<Step> {
    private static final Comparator<Step> ORDER =
            Comparator.comparing(Step::due).thenComparingLong(Step::order);

    /** What will have been done. */
    public enum Kind {
        RELEASE,
        FORCE,
        BIND,
        FAIL,
        APPLY,
        RECUT
    }

    public Step {
        gpus = gpus.stream().sorted().toList();
    }

    @Override
    public int compareTo(Step other) {
        return ORDER.compare(this, other);
    }

    Step of(List<GpuId> others) {
        return new Step(due, order, kind, decision, tenant, others, timings, reported, reason);
    }

    Step because(String other) {
        return new Step(due, order, kind, decision, tenant, gpus, timings, reported, other);
    }

    boolean frees() {
        return kind == Kind.RELEASE || kind == Kind.FORCE;
    }

    boolean binds() {
        return kind == Kind.BIND || kind == Kind.FAIL;
    }
}
