package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a step decides may be larger than a record can be; that is the fault of its domain, and of no other. */
class LargeOutputTest {
    private static final DomainId OTHER = new DomainId("elsewhere");
    /** With names of 245 characters, a decision about all of their GPUs has more than 1 MiB. */
    private static final int NODES = 5;

    private static final int GPUS = 1_000;

    private final Loop loop = Loop.live();
    private final Scenario story =
            new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS), Loop.WALL_CLOCK);

    @AfterEach
    void close() {
        loop.close();
    }

    private static Node node(String name, DomainId domain, int gpus) {
        List<Gpu> all = new ArrayList<>();
        for (int i = 0; i < gpus; i++) {
            all.add(Gpu.whole(new GpuId("%s-%s-%06d".formatted(name, "x".repeat(235), i)), i, "H100", 80L << 30));
        }
        return new Node(new NodeId(name), domain, Pool.TRAINING, "boot", Loop.WALL_CLOCK, NodeStatus.READY, all);
    }

    /** With a batch that leaves work for all of its GPUs. */
    private static TrainingJob wide(TrainingJob job) {
        int most = job.scaling().maxGpus();
        return new TrainingJob(
                job.job(),
                job.domain(),
                job.submittedAt(),
                job.application(),
                new TrainingJob.Scaling(
                        job.scaling().requestedGpus(), most, most, job.scaling().elastic()),
                job.precedence(),
                new TrainingJob.Traits(
                        new BatchRange(32 * most, 64 * most, 32, 1024, Optional.empty()),
                        job.traits().profile(),
                        job.traits().costs()),
                job.driver(),
                Optional.empty());
    }

    @Test
    void aDecisionThatNoRecordCanHoldStopsItsDomainAndNotTheProcess() {
        loop.tell(node("far", OTHER, 1));
        for (int i = 0; i < NODES; i++) {
            loop.tell(node("n" + i, Scenario.DOMAIN, GPUS));
        }
        loop.tell(wide(story.jobRecord("wide", NODES * GPUS, false)));

        assertThatCode(() -> loop.pass(Duration.ofSeconds(61))).doesNotThrowAnyException();

        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "test")).isEqualTo(1);
        assertThat(loop.gauge("lendstream.domain.stopped", "domain", "elsewhere"))
                .isZero();
        assertThat(loop.complaint()).hasValueSatisfying(why -> assertThat(why).contains("test", "bytes"));
    }
}
