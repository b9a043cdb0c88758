package io.lendstream.launcher.operation;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.Origin;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.id.Pool;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplainedTest {
    private final Scenario story = lending();

    private static Scenario lending() {
        Scenario story = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .service("chat", 1)
                .settled()
                .job("bert", 1);
        for (int i = 0; i < 20 && story.count("lent") < 1; i++) {
            story.rate("chat", 1).settled().after(ofSeconds(15)).settled();
        }
        assertThat(story.count("lent")).isEqualTo(1);
        return story.progress("bert", JobPhase.RUNNING).rate("chat", 1).settled();
    }

    private Decision reclaim() {
        story.rate("chat", 15);
        Decision reclaim = story.last().get(0);
        assertThat(reclaim.action()).isInstanceOf(Action.Reclaim.class);
        return reclaim;
    }

    private Explained explained(Decision decision, List<DomainEvent> log) {
        Explainer explainer = new Explainer(decision);
        log.forEach(explainer::take);
        List<ActuationReport> reports = log.stream()
                .map(DomainEvent::event)
                .filter(ActuationReport.class::isInstance)
                .map(ActuationReport.class::cast)
                .toList();
        CommandsInForce orders = new CommandsInForce(decision);
        log.forEach(orders::take);
        return new Explained(
                explainer.explanation(),
                DecisionOutcome.of(decision, reports, story.now()),
                false,
                orders.inForce(),
                TopicCatalogue.standard());
    }

    @Test
    void tellsPeopleWhatWasDecidedOnWhatAndWhatBecameOfIt() {
        Decision reclaim = reclaim();
        story.settled();

        String text = String.join("\n", explained(reclaim, story.log()).lines());

        assertThat(text)
                .contains(reclaim.id() + ": reclaim infer-g")
                .contains("from job bert by 2026-01-01T")
                .contains("because service chat needs 2 replicas")
                .contains("15.0 requests/s offered to chat in 00:")
                .contains("of job bert, which goes on with 0: 1.000, training loses the least speed by it")
                .contains(": lent to job bert until 00:")
                .contains("-> releasing from job bert, to be free by 00:")
                .contains("kept: lending is on")
                .contains("What became of it: in force after 0.0 s, of 45.0 s that it had")
                .contains("released by test: infer-g")
                .endsWith("Replayed with policy deepboot:protect-scale=1.0:place=near: equal to what was recorded.");
    }

    @Test
    void tellsToolsTheSame() {
        Decision reclaim = reclaim();
        story.settled();

        JsonNode json = explained(reclaim, story.log()).json();

        assertThat(json.at("/decision/kind").asText()).isEqualTo("reclaim");
        assertThat(json.at("/replay/equal").asBoolean()).isTrue();
        assertThat(json.at("/alternatives/0/chosen").asBoolean()).isTrue();
        assertThat(json.at("/needs/0/replicas").asInt()).isEqualTo(2);
        assertThat(json.at("/owners/0/before").asText()).startsWith("lent to job bert");
        assertThat(json.at("/outcome/reports/0/outcome").asText()).isEqualTo("released");
        assertThat(json.at("/guards/0/kept").asBoolean()).isTrue();
        assertThat(json.at("/inputs")).isNotEmpty();
    }

    @Test
    void saysThatALogWithoutBeginningWasNotReplayed() {
        Decision reclaim = reclaim();

        Explained explained =
                explained(reclaim, story.log().subList(3, story.log().size()));

        assertThat(explained.lines())
                .last()
                .isEqualTo("The log could not be replayed, for the log begins with event 4: earlier ones are no longer"
                        + " kept: this is what is recorded, and no more.");
        assertThat(explained.json().at("/replay/made").asBoolean()).isFalse();
    }

    @Test
    void namesTheLastDecisionWhereThereIsNoneOfThatName() {
        var found = new ExplainCommand.Found(new DecisionId(Scenario.DOMAIN, 1, 99));
        story.decisions().forEach(found::take);

        assertThatThrownBy(found::wanted)
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "there is no decision test/1/99; of domain test the first kept is test/1/1, and the last is"
                                + " test/1/%d.",
                        story.decisions().size());
    }

    @Test
    void namesTheDomainsThereAreWhereOneIsUnknown() {
        var found = new ExplainCommand.Found(DecisionId.parse("nowhere/1/1"));
        story.decisions().forEach(found::take);

        assertThatThrownBy(found::wanted)
                .hasMessage("there is no decision nowhere/1/1: domain 'nowhere' has none. Those that have: [test].");
    }

    @Test
    void aNameThatIsNoneIsBadUsage() {
        assertThatThrownBy(() -> ExplainCommand.parsed("17"))
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "ID is '17', but must be DOMAIN/EPOCH/SEQUENCE, such as default/1/17, or gpu/GPU, or gpu for all"
                                + " GPUs.");
    }

    /** The log as if commands had come by this topic. */
    private List<DomainEvent> by(String topic) {
        return story.log().stream()
                .map(event -> event.event() instanceof ControlCommand
                        ? new DomainEvent(
                                event.domain(),
                                event.epoch(),
                                event.sequence(),
                                event.at(),
                                Optional.of(new Origin(topic, 0, 7)),
                                event.event())
                        : event)
                .toList();
    }

    @Test
    void saysWhoOrderedWhatADecisionRestsOnAndByWhichGroup() {
        story.control(ControlCommand.Kind.RECLAIM_ALL);
        Decision reclaim = story.last().get(0);
        assertThat(reclaim.action()).isInstanceOf(Action.Reclaim.class);

        Explained known = explained(reclaim, by("lendstream.control.oncall"));
        Explained unknown = explained(reclaim, by("lendstream.control"));

        assertThat(String.join("\n", known.lines()))
                .contains("reclaim-all (for the test), ordered by tester (group oncall, topic"
                        + " lendstream.control.oncall)");
        JsonNode input = known.json().get("inputs").findValue("orderedBy");
        assertThat(input.get("group").asText()).isEqualTo("oncall");
        assertThat(input.get("authenticated").asBoolean()).isTrue();
        assertThat(String.join("\n", unknown.lines()))
                .contains("ordered by tester (not authenticated)")
                .doesNotContain("group");
        assertThat(unknown.json().get("inputs").findValue("authenticated").asBoolean())
                .isFalse();
    }

    @Test
    void saysWhichCommandsWereInForceUntilTheyAreTakenBack() {
        story.control(ControlCommand.Kind.FREEZE)
                .control(ControlCommand.Kind.THAW)
                .control(ControlCommand.Kind.FREEZE);
        long freeze = story.log().get(story.log().size() - 1).sequence();
        Decision reclaim = reclaim();

        Explained explained = explained(reclaim, by("lendstream.control.oncall"));

        assertThat(explained.lines()).contains("Commands in force:");
        assertThat(explained.json().at("/commandsInForce")).hasSize(1);
        assertThat(explained.json().at("/commandsInForce/0/sequence").asLong()).isEqualTo(freeze);
        assertThat(explained.json().at("/commandsInForce/0/orderedBy/group").asText())
                .isEqualTo("oncall");
    }
}
