package io.lendstream.launcher.operation;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Advice;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplainedAdviceTest {
    /** A job waits, and the scheduler may only advise. */
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 2)
            .node("infer", Pool.INFERENCE, 4)
            .service("chat", 1)
            .settled()
            .control(ControlCommand.Kind.ADVISORY_ON)
            .job("a", 2)
            .after(ofSeconds(45))
            .rate("chat", 1)
            .after(ofSeconds(15));

    private ExplainedAdvice explained(Optional<DomainId> wanted, List<DomainEvent> log) {
        ExplainedAdvice explained = new ExplainedAdvice(wanted, StoryNames.of(story));
        log.forEach(explained::take);
        return explained;
    }

    private ExplainedAdvice explained() {
        return explained(Optional.empty(), story.log());
    }

    private List<Decision> standing() {
        return story.state().advice().map(Advice::decisions).orElse(List.of());
    }

    @Test
    void listsTheAdviceThatStandsWithIdAgeAndReason() {
        Decision oldest = standing().get(0);

        List<String> lines = explained().lines(oldest.at().plusSeconds(600));

        assertThat(lines).hasSize(1 + standing().size());
        assertThat(lines.get(0)).startsWith("domain test: ").contains(" of advice stand", "event ");
        assertThat(lines.get(1)).matches(" +" + oldest.id() + " +10m  .*").contains("Reason: ");
    }

    @Test
    void adviceThatNoPlanProposesAnyMoreIsNotListed() {
        Decision first = standing().get(0);

        story.approve(first.id()).settled().progress("a", JobPhase.RUNNING);
        for (int i = 0; i < 20; i++) {
            story.rate("chat", 1).after(ofSeconds(15));
        }

        assertThat(explained().lines(story.now())).noneMatch(line -> line.contains(first.id() + " "));
    }

    @Test
    void theGainIsAnAverageOverTheTimeOfTheAdvice() {
        story.job("b", 4).job("c", 4).job("d", 4);
        for (int i = 0; i < 40; i++) {
            story.rate("chat", 1).after(ofSeconds(15));
        }

        assertThat(explained().lines(story.now()).get(1))
                .matches(
                        "  estimate for 10m.* of advice: on average [0-9.]+ of 4.0 GPUs of inference would be lent .*");
        JsonNode gain = explained().json(story.now()).at("/domains/0/estimate");
        assertThat(gain.path("inferenceGpus").asDouble()).isEqualTo(4);
        assertThat(gain.path("lentGpus").asDouble()).isBetween(0.5, 3.0);
        assertThat(gain.path("lentGpuHours").asDouble())
                .isCloseTo(
                        gain.path("lentGpus").asDouble() * gain.path("seconds").asDouble() / 3600, within(0.01));
    }

    private Explained explained(Decision advice) {
        Explainer explainer = new Explainer(advice);
        story.log().forEach(explainer::take);
        ApprovalSearch approval = new ApprovalSearch(advice.id());
        story.decisions().forEach(approval::take);
        return new Explained(
                explainer.explanation(),
                DecisionOutcome.of(advice, List.of(), story.now()),
                approval,
                false,
                List.of(),
                TopicCatalogue.standard(),
                StoryNames.of(story),
                Optional.empty());
    }

    @Test
    void theOutcomeOfAdviceIsTheDecisionThatItsApprovalMade() {
        Decision first = story.last().get(0);

        assertThat(explained(first).lines()).contains("Outcome: only advice; not approved");
        assertThat(explained(first).json().at("/outcome").has("approvedAs")).isFalse();

        story.approve(first.id());
        Decision binding = story.last().get(0);

        assertThat(binding.advisory()).isFalse();
        assertThat(explained(first).lines()).contains("Outcome: advice; approved as " + binding.id());
        assertThat(explained(first).json().at("/outcome/approvedAs").asText())
                .isEqualTo(binding.id().toString());
        assertThat(explained(binding).lines())
                .anyMatch(line -> line.startsWith("Outcome: no actuator has reported on it; "));
    }

    @Test
    void adviceChangesNoOwnerAndShowsNone() {
        Decision first = story.last().get(0);

        assertThat(explained(first).lines())
                .doesNotContain("Owners, before and after:")
                .noneMatch(line -> line.contains("free -> free"));

        story.approve(first.id());

        assertThat(explained(story.last().get(0)).lines()).contains("Owners, before and after:");
    }

    @Test
    void withoutAdvisoryModeThereIsNoAdvice() {
        story.control(ControlCommand.Kind.ADVISORY_OFF);

        assertThat(explained().lines(story.now()))
                .singleElement()
                .asString()
                .startsWith("domain test: no advice, because advisory mode is off (event ");
    }

    @Test
    void toolsGetTheSameAsJson() {
        JsonNode domain = explained().json(story.now()).at("/domains/0");

        assertThat(domain.path("domain").asText()).isEqualTo("test");
        assertThat(domain.path("advisory").asBoolean()).isTrue();
        assertThat(domain.path("event").asLong()).isEqualTo(story.state().eventSequence());
        assertThat(domain.path("advice"))
                .extracting(advice -> advice.path("id").asText())
                .containsExactlyElementsOf(standing().stream()
                        .map(advice -> advice.id().toString())
                        .toList());
        assertThat(domain.path("advice")).allSatisfy(advice -> {
            assertThat(advice.path("ageSeconds").isIntegralNumber()).isTrue();
            assertThat(advice.path("reason").asText()).isNotEmpty();
        });
    }

    @Test
    void aLogWithoutItsBeginningTellsNoAdvice() {
        List<DomainEvent> log = story.log();
        ExplainedAdvice explained = explained(Optional.empty(), log.subList(3, log.size()));

        assertThat(explained.lines(story.now()))
                .containsExactly("domain test: its advice is unknown: the log begins with event 4: earlier ones are no"
                        + " longer kept; 'lendstream top' shows the newest decisions");
        assertThat(explained.json(story.now()).at("/domains/0/obstacle").asText())
                .startsWith("the log begins");
    }

    @Test
    void anUnknownDomainIsAnError() {
        ExplainedAdvice elsewhere = explained(Optional.of(new DomainId("elsewhere")), story.log());

        assertThatThrownBy(() -> elsewhere.lines(story.now()))
                .isInstanceOf(UserError.class)
                .hasMessage("domain 'elsewhere' has no log; check its name.");
    }

    @Test
    void anIdOfAdviceNamesADomainOrAll() {
        assertThat(ExplainCommand.isOf("advice", "advice")).isTrue();
        assertThat(ExplainCommand.isOf("advice", "advice/east")).isTrue();
        assertThat(ExplainCommand.isOf("advice", "advice/1/17")).isFalse();
        assertThat(ExplainCommand.isOf("advice", "advices")).isFalse();
        assertThat(ExplainCommand.named("advice", "advice")).isEmpty();
        assertThat(ExplainCommand.named("advice", "advice/east")).contains("east");
    }
}
