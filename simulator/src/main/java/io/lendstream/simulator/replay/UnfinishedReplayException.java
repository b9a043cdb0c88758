package io.lendstream.simulator.replay;

import io.lendstream.core.state.ClusterState;
import io.lendstream.simulator.workload.Workload;
import java.io.Serial;
import java.time.Duration;
import java.util.stream.Collectors;

/** A replay that is given up, because its jobs are not over long after the last arrival. The message is for users. */
public final class UnfinishedReplayException extends IllegalStateException {

    @Serial
    private static final long serialVersionUID = 1L;

    private UnfinishedReplayException(String message) {
        super(message);
    }

    /**
     * A replay that is not over.
     *
     * @param patience how long ago the last arrival was
     * @param progress how many jobs are done, for people
     */
    static UnfinishedReplayException of(
            Workload workload, ReplaySettings settings, Duration patience, String progress, ClusterState state) {
        String refused = state.clusterIndex().jobs().refused().stream()
                .map(job -> job.spec().job().value())
                .collect(Collectors.joining(", "));
        return new UnfinishedReplayException(
                "the replay of %s with %s is not over %d days after its last arrival (%s): a job needs longer, or more GPUs than ever are free at once, or nodes are lost too often; more nodes, or none lost, may help%s"
                        .formatted(
                                workload.name(),
                                settings.policyName(),
                                patience.toDays(),
                                progress,
                                refused.isEmpty()
                                        ? ""
                                        : "; refused, because their queue or the nodes can never hold them: "
                                                + refused));
    }
}
