package io.lendstream.launcher.operation;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Origin;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.history.KeptInput;
import io.lendstream.core.history.KeptReason;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.Alternative;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A decision whose log is gone is explained by what was kept with it. */
class ExplainedKeptTest {
    private final Scenario story = story();
    private final Decision reclaim = story.decisions().stream()
            .filter(decision -> decision.action().asReclaim().isPresent())
            .findFirst()
            .orElseThrow();
    private final KeptReason kept = new KeptReason(
            reclaim.id(),
            Optional.of(reclaim),
            List.of(new Alternative(new JobId("bert"), List.of(), 2, 1.5, "speedup", true, "it is the best size")),
            List.of(new KeptInput(
                    reclaim.reason().inputs().get(0),
                    reclaim.at(),
                    "request-rate",
                    Optional.of(new Origin("lendstream.request-rates", 3, 77)),
                    "15.0 requests/s offered to chat")));

    private static Scenario story() {
        Scenario story = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 3)
                .service("chat", 1)
                .settled()
                .job("bert", 2)
                .settled();
        for (int i = 0; i < 40 && story.count("lent") < 1; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
            if (story.job("bert").gpus() > 0) {
                story.progress("bert", JobPhase.RUNNING).settled();
            }
        }
        return story.rate("chat", 15).settled().after(ofMinutes(10)).rate("chat", 15);
    }

    private Explained explained(Optional<ExplainedKept> known, List<DomainEvent> log) {
        Explainer explainer = new Explainer(reclaim);
        log.forEach(explainer::take);
        return new Explained(
                explainer.explanation(),
                DecisionOutcome.of(reclaim, List.of(), story.now()),
                new ApprovalSearch(reclaim.id()),
                false,
                List.of(),
                TopicCatalogue.standard(),
                StoryNames.of(story),
                known);
    }

    private List<DomainEvent> endOfLog() {
        return story.log().subList(story.log().size() - 1, story.log().size());
    }

    private ExplainedKept known() {
        return new ExplainedKept(kept, Optional.of(endOfLog().get(0)));
    }

    @Test
    void showsItsReasonAlternativesAndEventsMarkedNotReplayed() {
        String text =
                String.join("\n", explained(Optional.of(known()), endOfLog()).lines());

        assertThat(text)
                .contains(
                        "  reason: " + reclaim.reason().text().split(":", 2)[0].split(" infer", 2)[0])
                .contains("request-rate  lendstream.request-rates-3@77  15.0 requests/s offered to chat")
                .contains("Alternatives, by speedup", "+ 2 GPUs for job bert: 1.500, it is the best size")
                .contains("not replayed: the log begins at 2026-01-01 ")
                .contains("event %d, after this decision"
                        .formatted(endOfLog().get(0).sequence()))
                .doesNotContain("equal to the record")
                .doesNotContain("not read: %d".formatted(kept.inputs().get(0).sequence()));
    }

    @Test
    void toolsSeeThatItWasNotReplayed() {
        var json = explained(Optional.of(known()), endOfLog()).json();

        assertThat(json.get("replayed").asBoolean()).isFalse();
        assertThat(json.get("notReplayed").asText()).startsWith("the log begins at ");
        assertThat(json.get("inputsKept").get(0).get("gist").asText()).isEqualTo("15.0 requests/s offered to chat");
        assertThat(json.get("alternatives").get(0).get("size").asInt()).isEqualTo(2);
        assertThat(explained(Optional.empty(), story.log())
                        .json()
                        .get("replayed")
                        .asBoolean())
                .isTrue();
    }

    @Test
    void withoutAnyLogItSaysSo() {
        String text = String.join(
                "\n",
                explained(Optional.of(new ExplainedKept(kept, Optional.empty())), List.of())
                        .lines());

        assertThat(text).contains("not replayed: the log of the domain is gone");
    }

    @Test
    void aSecondRecordAddsAlternatives() {
        Alternative other = new Alternative(new JobId("bert"), List.of(), 1, 1, "speedup", false, "slower");
        KeptReason both = kept.and(new KeptReason(reclaim.id(), Optional.empty(), List.of(other), List.of()));

        assertThat(both.decision()).contains(reclaim);
        assertThat(both.inputs()).isEqualTo(kept.inputs());
        assertThat(both.alternatives()).hasSize(2).contains(other);
        assertThat(both.and(both)).isEqualTo(both);
    }
}
