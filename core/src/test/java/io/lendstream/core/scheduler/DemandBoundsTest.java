package io.lendstream.core.scheduler;

import static io.lendstream.core.fixtures.Scenario.DOMAIN;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One source that says too much, of its requests or of its window, takes nothing from inference. */
class DemandBoundsTest {
    private Scenario story = Scenario.of("deepboot");

    @AfterEach
    void theHistoryIsClean() {
        assertThat(story.verdict().violations()).isEmpty();
    }

    private Scenario concurrent(String service) {
        return story.tell(new InferenceService(
                new ServiceId(service),
                DOMAIN,
                story.now(),
                List.of(),
                Duration.ofMillis(500),
                10,
                Optional.of(1),
                1,
                ofSeconds(8)));
    }

    private Scenario inFlight(String service, String source, long sequence, Instant from, int inFlight, int waiting) {
        return story.tell(new RequestRate(
                new ServiceId(service),
                DOMAIN,
                source,
                "boot-1",
                sequence,
                from,
                story.now(),
                new RequestRate.Requests(0, 0, inFlight, waiting),
                RequestRate.Latency.NOT_MEASURED,
                List.of(),
                List.of()));
    }

    private Scenario inFlight(String source, long sequence, int inFlight, int waiting) {
        return inFlight("chat", source, sequence, story.now().minusSeconds(15), inFlight, waiting);
    }

    @Test
    void moreRequestsInFlightThanAnIntHoldsNeedMoreReplicasAndNotFewer() {
        story.node("infer", Pool.INFERENCE, 4);
        concurrent("chat").settled();
        inFlight("one", 1, 4, 0).settled();
        assertThat(story.count("serving")).isEqualTo(4);

        inFlight("other", 1, Integer.MAX_VALUE, 0);
        assertThat(story.count("serving")).isEqualTo(4);
        inFlight("other", 2, Integer.MAX_VALUE, Integer.MAX_VALUE);
        assertThat(story.count("serving")).isEqualTo(4);

        inFlight("other", 3, 0, Integer.MAX_VALUE);
        assertThat(story.count("serving")).isEqualTo(4);
    }

    @Test
    void whatManyServicesLackTogetherIsMoreThanWhatOneLacks() {
        story.node("train", Pool.TRAINING, 1).node("infer", Pool.INFERENCE, 4);
        concurrent("chat").settled();
        concurrent("search").settled().job("a", 4);
        for (int i = 1; i < 60 && story.count("lent") == 0; i++) {
            for (String service : List.of("chat", "search")) {
                inFlight(service, "one", i, story.now().minusSeconds(15), 1, 0).settled();
            }
            story.after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isPositive();

        story.control(ControlCommand.Kind.ADVISORY_ON);
        inFlight("chat", "other", 1, story.now().minusSeconds(15), Integer.MAX_VALUE, 0);
        inFlight("search", "other", 1, story.now().minusSeconds(15), Integer.MAX_VALUE, 0);
        assertThat(story.count("lent")).isPositive();
        story.control(ControlCommand.Kind.ADVISORY_OFF);

        assertThat(story.count("lent")).isZero();
        story.settled();
    }

    /** A window that began in 1970 is no promise to be silent for so long. */
    @Test
    void aWindowOfManyYearsDoesNotSwitchOffTheGuardAgainstStaleDemand() {
        story.node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 4)
                .service("chat", 1)
                .settled()
                .job("a", 4);
        for (int i = 0; i < 40 && story.count("lent") < 2; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job("a").gpus() > 0) {
                story.progress("a", JobPhase.RUNNING).settled();
            }
        }
        assertThat(story.count("lent")).isGreaterThanOrEqualTo(2);
        inFlight("chat", "hostile", 1, Instant.EPOCH, 0, 0);

        for (int i = 0; i < 70; i++) {
            story.after(ofMinutes(1)).settled();
        }

        assertThat(story.count("lent")).isZero();
        assertThat(story.decisions())
                .anySatisfy(decision -> assertThat(decision.reason().text()).contains("the demand of chat is unknown"));
        assertThat(story.decisions())
                .anySatisfy(decision -> assertThat(decision.reason().text())
                        .startsWith("no further GPU is lent: the request rates of chat are ")
                        .endsWith(" s old (limit: 3600 s)"));
    }

    @Test
    void aSourceWithAWindowOfManyYearsIsForgottenWhileOthersReport() {
        story.node("infer", Pool.INFERENCE, 4).service("chat", 1).settled();
        inFlight("chat", "hostile", 1, Instant.EPOCH, 0, 0);
        story.rate("chat", 1);
        assertThat(story.state().services().require(new ServiceId("chat")).sources())
                .hasSize(2);

        story.after(ofMinutes(71)).rate("chat", 1);

        assertThat(story.state().services().require(new ServiceId("chat")).sources())
                .hasSize(1);
        assertThat(story.state().services().require(new ServiceId("chat")).patience())
                .isEqualTo(ofSeconds(45));
        story.settled();
    }

    /** Two thousand swings in four seconds, each of which would put three replicas to work and to rest again. */
    @Test
    void demandThatSwingsFasterThanSourcesReportIsNoDecisionEach() {
        story.node("infer", Pool.INFERENCE, 4).service("chat", 1).settled();
        story.rate("chat", 30).settled().after(ofSeconds(20)).settled();
        assertThat(story.count("serving")).isEqualTo(4);
        int before = story.decisions().size();

        for (int i = 0; i < 2000; i++) {
            story.after(Duration.ofMillis(2)).rate("chat", i % 2 == 0 ? 1 : 30);
            if (i % 2 == 1) {
                assertThat(story.count("serving"))
                        .as("what is needed is there at once")
                        .isEqualTo(4);
            }
        }

        assertThat(story.decisions().size() - before).isLessThanOrEqualTo(4);
        story.settled();
        story.after(ofSeconds(15)).rate("chat", 1);
        assertThat(story.count("serving"))
                .as("and rests when the swings are over")
                .isEqualTo(1);
    }
}
