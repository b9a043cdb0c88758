package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import org.junit.jupiter.api.AfterEach;

/** A small cluster, whose history breaks no rule. */
abstract class SmallClusterFixture {
    Scenario story = Scenario.of("deepboot");

    /** Two training GPUs, four of inference, one service that needs one replica. */
    Scenario smallCluster(String policy) {
        story = Scenario.of(policy);
        return story.node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled();
    }

    /** The small cluster with a job that has been lent two GPUs. */
    Scenario lending(String policy) {
        smallCluster(policy).job("a", 4);
        for (int i = 0; i < 8; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        for (int i = 0; i < 40 && story.job("a").gpus() < 4; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            story.progress("a", JobPhase.RUNNING).settled();
        }
        assertThat(story.job("a").gpus()).isEqualTo(4);
        assertThat(story.count("lent")).isEqualTo(2);
        return story.rate("chat", 1).settled();
    }

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }
}
