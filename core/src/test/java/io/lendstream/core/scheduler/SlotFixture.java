package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static io.lendstream.core.scheduler.Moment.EARLIER;
import static io.lendstream.core.scheduler.Moment.NOW;
import static io.lendstream.core.scheduler.Moment.gpus;
import static io.lendstream.core.scheduler.Moment.job;
import static io.lendstream.core.scheduler.Moment.training;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.UnitChoice;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Intruders;
import io.lendstream.core.state.SlotKnowledge;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;

/** A node of four GPUs whose driver does not choose units, with reports and samples about them. */
abstract class SlotFixture {
    static final SlotKnowledge SLOT = SlotKnowledge.slot(Optional.empty());

    final Moment moment = new Moment();

    @BeforeEach
    void aNodeOfFourGpusWhoseDriverChoosesTheNodeOnly() {
        moment.node("n", Pool.TRAINING, 4)
                .node("m", Pool.TRAINING, 2)
                .job("a", 4)
                .job("b", 4)
                .observe(new ActuatorDescription(
                        "agent-1",
                        DOMAIN,
                        NOW,
                        "kubernetes",
                        List.of(),
                        Abilities.USUAL.choosing(UnitChoice.NODE, UnitChoice.NODE)));
    }

    /** A unit that a job trains on as a slot, where agents would show this user. */
    void slot(String job, String user, String gpu) {
        moment.owned(training(job), gpu);
        placed(SlotKnowledge.slot(Optional.of(user)), gpu);
    }

    void placed(SlotKnowledge place, String gpu) {
        moment.set(builder -> builder.put(
                builder.gpu(new GpuId(gpu)).placed(Optional.of(place)).boundBy("agent-1")));
    }

    /** A process beside the tenant of a unit, as samples have shown it. */
    void intruderOn(String gpu) {
        Intruders stranger = new Intruders(List.of("process/4711-99"), NOW);
        moment.set(builder -> builder.put(builder.gpu(new GpuId(gpu)).beside(Optional.of(stranger))));
    }

    void report(Outcome outcome, String job, String gpu, UnitPlacement... placements) {
        report(moment.report(EARLIER, outcome, job(job), gpu), placements);
    }

    void report(ActuationReport plain, UnitPlacement... placements) {
        moment.observe(new ActuationReport(
                plain.domain(),
                plain.decision(),
                plain.actuator(),
                plain.at(),
                plain.outcome(),
                plain.gpus(),
                plain.tenant(),
                plain.timings(),
                plain.reason(),
                List.of(placements)));
    }

    static UnitPlacement unknown(String named, String user) {
        return UnitPlacement.unknown(new GpuId(named), Optional.of(user));
    }

    static UnitPlacement on(String actual, String named, String user) {
        return UnitPlacement.on(new GpuId(actual), new GpuId(named), Optional.of(user));
    }

    /** A sample that shows users on GPUs of node n; the other GPUs are not in it. */
    void sample(Map<String, String> userByGpu) {
        List<GpuSample> samples = userByGpu.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(use -> GpuSample.of(new GpuId(use.getKey())).build().withUsers(List.of(use.getValue())))
                .toList();
        moment.later(ofSeconds(1));
        long sequence = moment.state().eventSequence();
        Instant now = moment.report(EARLIER, Outcome.HOLDS, job("a")).at();
        moment.observe(new GpuTelemetry(new NodeId("n"), DOMAIN, "boot-1", sequence, now, samples));
    }

    void assertOwners(String... jobs) {
        for (int i = 0; i < jobs.length; i++) {
            Optional<Tenant> expected = jobs[i].isEmpty() ? Optional.empty() : Optional.of(job(jobs[i]));
            assertThat(moment.owner("n-g" + i).holder()).as("n-g" + i).isEqualTo(expected);
        }
    }

    void assertAllocated(String job, String... gpus) {
        assertThat(moment.jobState(job).allocation().gpus()).isEqualTo(gpus(gpus));
        assertThat(moment.jobState(job).target()).isEqualTo(gpus(gpus));
    }
}
