package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.HistoryChecker;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.TenantUser;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Intruders;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Users come and go on GPUs beside jobs; agents name the jobs, and are silent at times. */
class IntruderHistoriesTest {
    private static final int GPUS = 6;

    private final Scenario story = new Scenario(new Scheduler(
            Policies.parse("deepboot"),
            SchedulerSettings.of(
                    Map.of("heed-users", "true", "heed-intruders", "true", "quarantine-evidence", "PT3M"))));
    private final Map<GpuId, String> strangers = new HashMap<>();
    private long samples;
    private Instant sampledAt = Scenario.START;
    private int noted;
    private int stayed;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void anIntruderIsNotedAndItsGpuIsGivenToNobodyElse(long seed) {
        Random random = new Random(seed);
        story.node("n", Pool.TRAINING, GPUS);
        int job = 0;
        for (int step = 0; step < 700; step++) {
            if (random.nextInt(15) == 0) {
                story.job("job-" + job++, 1 + random.nextInt(4));
                settle();
            }
            for (int i = 0; i < GPUS; i++) {
                GpuId gpu = new GpuId("n-g" + i);
                if (random.nextInt(30) == 0) {
                    strangers.put(gpu, "process/" + step + "-" + i);
                } else if (random.nextInt(15) == 0) {
                    strangers.remove(gpu);
                }
            }
            if (random.nextInt(8) > 0) {
                sample();
            }
            story.after(ofSeconds(7));
            settle();
            List<String> running = story.state().jobs().stream()
                    .filter(each -> each.gpus() > 0 && !each.isOver())
                    .map(each -> each.spec().job().value())
                    .toList();
            if (!running.isEmpty() && random.nextInt(10) == 0) {
                story.progress(running.get(random.nextInt(running.size())), JobPhase.FINISHED);
                settle();
            }
        }

        assertThat(noted).as("samples with intruders").isGreaterThan(20);
        assertThat(stayed).as("GPUs that were foreign after their release").isGreaterThan(2);
        assertThat(HistoryChecker.check(Scenario.DOMAIN, story.log(), story.decisions(), story.leases())
                        .violations())
                .isEmpty();
    }

    private void sample() {
        List<GpuSample> all = new ArrayList<>();
        Map<GpuId, String> expected = new HashMap<>();
        for (GpuState unit : story.state().gpus().values()) {
            List<String> users = new ArrayList<>();
            unit.owner()
                    .holder()
                    .filter(any -> unit.owner().isUp())
                    .ifPresent(tenant -> users.add(TenantUser.of(Scenario.DOMAIN, tenant)));
            String stranger = strangers.get(unit.gpuId());
            if (stranger != null) {
                users.add(stranger);
            }
            if (unit.owner().isUp()
                    && stranger != null
                    && story.now().isAfter(unit.since().plusSeconds(30))) {
                expected.put(unit.gpuId(), stranger);
            }
            all.add(GpuSample.of(unit.gpuId()).build().withUsers(users));
        }
        samples++;
        sampledAt = story.now();
        story.tell(new GpuTelemetry(new NodeId("n"), Scenario.DOMAIN, "boot-1", samples, story.now(), all));
        expected.forEach((gpu, user) -> {
            noted++;
            assertThat(story.state().gpus().require(gpu).intruders().map(Intruders::users))
                    .contains(List.of(user));
        });
        for (GpuState unit : story.state().gpus().values()) {
            if (!strangers.containsKey(unit.gpuId())) {
                assertThat(unit.intruders()).isEmpty();
            }
        }
        settle();
    }

    /** Lets actuators answer, step by step: a GPU on which an intruder stays goes to no other tenant. */
    private void settle() {
        for (int i = 0; i < 20 && !story.last().isEmpty(); i++) {
            Map<GpuId, GpuState> before = new HashMap<>();
            story.state().gpus().stream()
                    .filter(unit -> unit.intruders().isPresent())
                    .forEach(unit -> before.put(unit.gpuId(), unit));
            story.actuated();
            boolean isFresh = !sampledAt.plusSeconds(60).isBefore(story.now());
            before.forEach((gpu, unit) -> {
                GpuState after = story.state().gpus().require(gpu);
                boolean hasLeft = !after.owner().holder().equals(unit.owner().holder());
                if (hasLeft && isFresh) {
                    stayed++;
                    assertThat(after.owner().label()).as(gpu.value()).isEqualTo("foreign");
                }
            });
        }
    }
}
