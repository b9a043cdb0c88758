package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Equal shares of services whose requests wait, where others have floors or late rates. 8 requests/s need a replica. */
class EqualSharesTest {
    private final Map<String, Integer> load = new LinkedHashMap<>();
    private Scenario story = begun(12);

    private static Scenario begun(int gpus) {
        Scenario begun = new Scenario(
                new Scheduler(Policies.parse("lendstream"), SchedulerSettings.of(Map.of("waiting-first", "true"))));
        return begun.node("infer", Pool.INFERENCE, gpus).settled();
    }

    private EqualSharesTest load(String service, int replicas) {
        load.put(service, replicas);
        return this;
    }

    private void windows(int windows) {
        for (int i = 0; i < windows; i++) {
            story.after(ofSeconds(15)).settled();
            load.forEach((service, replicas) -> story.forecast(service, 8.0 * replicas)
                    .settled()
                    .rate(service, 8.0 * replicas)
                    .settled());
        }
    }

    private long serving(String service) {
        Tenant tenant = new Tenant.Service(new ServiceId(service));
        return story.state().gpus().stream()
                .filter(unit -> unit.isHeldBy(tenant) && unit.owner().isServing())
                .count();
    }

    @Test
    void floorsAreNoPartOfWhatOthersShare() {
        story.service("floored", 8).service("first", 0).service("second", 0).settled();
        load("floored", 2).load("first", 10).load("second", 0).windows(6);
        assertThat(serving("first")).isEqualTo(4);

        load("second", 10).windows(10);

        assertThat(serving("floored")).isEqualTo(8);
        assertThat(serving("first")).isEqualTo(2);
        assertThat(serving("second")).isEqualTo(2);
    }

    @Test
    void whatAServiceWithLateRatesKeepsIsNoPartOfWhatOthersShare() {
        story.service("silent", 0).service("first", 0).service("second", 0).settled();
        load("silent", 8).load("first", 0).load("second", 0).windows(6);
        load.remove("silent");
        load("first", 4).windows(6);
        load("first", 10).windows(6);
        assertThat(serving("silent")).isEqualTo(8);
        assertThat(serving("first")).isEqualTo(4);

        load("second", 10).windows(10);

        assertThat(serving("silent")).isEqualTo(8);
        assertThat(serving("first")).isEqualTo(2);
        assertThat(serving("second")).isEqualTo(2);
    }

    @Test
    void needsExceedTheGpusThatAreNotKept() {
        story = begun(28);
        story.service("silent", 0).service("first", 0).service("second", 0).settled();
        load("silent", 18).load("first", 0).load("second", 0).windows(6);
        load.remove("silent");
        windows(6);
        load("first", 12).windows(8);
        long silent = serving("silent");
        assertThat(serving("first")).isEqualTo(28 - silent);

        load("second", 3).windows(10);

        assertThat(serving("silent")).isEqualTo(silent).isGreaterThan(15);
        assertThat(serving("second")).isEqualTo(3);
    }
}
