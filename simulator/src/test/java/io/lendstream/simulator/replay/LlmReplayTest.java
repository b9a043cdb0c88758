package io.lendstream.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.simulated.SimulatedNodes;
import io.lendstream.simulator.ServiceResult;
import io.lendstream.simulator.workload.Presets;
import io.lendstream.simulator.workload.Scene;
import io.lendstream.simulator.workload.Workload;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Language models keep their SLO while their idle GPUs are lent. */
@Tag("long")
class LlmReplayTest {
    private static final DomainId DOMAIN = new DomainId("replay");
    private static final int JOBS = 20;

    private static Replayed replay(Workload workload, String policy) {
        return Replay.run(
                workload, ReplaySettings.of(policy, true, true, new SimulatedNodes.Layout(DOMAIN, 10, 4, 2, 1)));
    }

    private static double attainment(Replayed replayed) {
        List<ServiceResult> services = replayed.outcome().results().services();
        double inTime = services.stream().mapToDouble(ServiceResult::withinSlo).sum();
        double all = services.stream()
                .mapToDouble(service -> service.requests() + service.unanswered())
                .sum();
        return inTime / all;
    }

    @Test
    void loansDoNotCostTheSlo() {
        Workload llm = Presets.create("llm", Scene.of(DOMAIN, 1, 8, 32));
        Workload some = new Workload("llm", llm.start(), llm.tasks().subList(0, JOBS), llm.loads());

        Replayed lending = replay(some, "lendstream");

        assertThat(HistoryChecker.check(DOMAIN, lending.log(), lending.outcome().decisions(), lending.leases())
                        .violations())
                .isEmpty();
        assertThat(lending.outcome().decisions().stream()
                        .flatMap(decision -> decision.action().asServe().stream())
                        .flatMap(serve -> serve.replicas().stream())
                        .map(replica -> replica.role())
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(ReplicaRole.ALL, ReplicaRole.PREFILL, ReplicaRole.DECODE);
        assertThat(lending.outcome().results().lentGpuSeconds()).isPositive();
        assertThat(attainment(lending)).isCloseTo(attainment(replay(some, ReplaySettings.NO_LENDING)), within(0.0005));
    }
}
