package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Services with a present and an expected load. A rate of 8 requests/s needs one replica, and a replica takes 53 s to come
 * back: 45 s of notice and 8 s of warm-up.
 */
abstract class WaitingStory {
    static final Map<String, String> ON = Map.of("waiting-first", "true");

    Scenario story = begun("lendstream", ON, 4);

    /** The replicas that each service needs now, and those that it is expected to need. */
    final Map<String, int[]> load = new LinkedHashMap<>();

    static Scenario begun(String policy, Map<String, String> settings, int gpus) {
        Scenario begun = new Scenario(new Scheduler(Policies.parse(policy), SchedulerSettings.of(settings)));
        if (gpus > 0) {
            begun.node("infer", Pool.INFERENCE, gpus);
        }
        return begun.service("chat", 0).service("embed", 0).settled();
    }

    WaitingStory load(String service, int now, int expected) {
        load.put(service, new int[] {now, expected});
        return this;
    }

    /** Windows of 15 s with the present load. */
    void windows(int windows) {
        for (int i = 0; i < windows; i++) {
            story.after(ofSeconds(15)).settled();
            load.forEach((service, replicas) -> story.forecast(service, 8.0 * replicas[1])
                    .settled()
                    .rate(service, 8.0 * replicas[0])
                    .settled());
        }
    }

    long serving(String service) {
        return replicas(service).filter(unit -> unit.owner().isServing()).count();
    }

    Stream<GpuState> replicas(String service) {
        return story.state().gpus().stream().filter(unit -> unit.isHeldBy(new Tenant.Service(new ServiceId(service))));
    }

    List<Decision> stops() {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.WAITING)
                        && decision.action().asIdle().isPresent())
                .toList();
    }

    /** All GPUs with the service embed, which needs one of them now, and others as is expected; for some time. */
    void embedHoldsAll() {
        load("embed", 1, 4).load("chat", 0, 0).windows(6);
        assertThat(serving("embed")).isEqualTo(4);
    }
}
