package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.UnitReview.Cause;
import java.util.List;
import java.util.Map;

/** A domain whose GPUs are reviewed, and checks that a plan agrees with the review. */
abstract class LendingReviewFixture {
    Scheduler scheduler = scheduler(Map.of());
    Scenario story = new Scenario(scheduler);

    static Scheduler scheduler(Map<String, String> settings) {
        return new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(settings));
    }

    /** A scheduler with a setting that is not usual. */
    void with(String key, String value) {
        scheduler = scheduler(Map.of(key, value));
        story = new Scenario(scheduler);
    }

    /** Four GPUs of inference, of which the first serves, and one of training. */
    void cluster() {
        story.node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .rate("chat", 1);
    }

    void rigidJobs(int count) {
        for (int i = 0; i < count; i++) {
            story.rigidJob("job-" + i, 1);
        }
    }

    UnitReview review(String gpu) {
        return review(scheduler, gpu);
    }

    UnitReview review(Scheduler by, String gpu) {
        List<UnitReview> reviews =
                LendingReview.of(by, story.state(), story.now()).of(new GpuId(gpu));
        assertThat(reviews).hasSize(1);
        return reviews.get(0);
    }

    void assertReview(String gpu, Cause cause, String reason) {
        UnitReview review = review(gpu);
        assertThat(review.reason()).isEqualTo(reason);
        assertThat(review.cause()).isEqualTo(cause);
    }

    /** Nothing is in the way: so says the review, and so does a plan that is made now. */
    void assertIsLent(String gpu) {
        assertIsLent(scheduler, gpu);
    }

    void assertIsLent(Scheduler by, String gpu) {
        assertThat(review(by, gpu).cause()).as(review(by, gpu).reason()).isEqualTo(Cause.NEXT_PLAN);
        assertThat(planned(by)).anyMatch(decision -> decision.action().gpus().contains(new GpuId(gpu)));
    }

    void assertIsNotLent(String gpu) {
        assertThat(planned(scheduler))
                .noneMatch(decision -> decision.action().gpus().contains(new GpuId(gpu)));
    }

    List<Decision> planned(Scheduler by) {
        return new EditedState(story).planAt(story.now()).tick(by).decisions();
    }

    /** Goes on to the next plan, with a rate right before it. */
    void nextPlan() {
        story.after(ofSeconds(50)).settled().rate("chat", 1).settled().after(ofSeconds(10));
    }
}
