package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.LoanStory;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.Tenant;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplainedTest {
    private final Scenario story = LoanStory.ofOneJob();

    private Decision reclaim() {
        story.rate("chat", 15);
        Decision reclaim = story.last().get(0);
        assertThat(reclaim.action()).isInstanceOf(Action.Reclaim.class);
        return reclaim;
    }

    private Explained explained(Decision decision, List<DomainEvent> log) {
        return explained(story, decision, log);
    }

    private static Explained explained(Scenario story, Decision decision, List<DomainEvent> log) {
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
                new ApprovalSearch(decision.id()),
                false,
                orders.inForce(),
                TopicCatalogue.standard(),
                StoryNames.of(story),
                Optional.empty());
    }

    @Test
    void showsTheDecisionItsInputsAndItsOutcome() {
        Decision reclaim = reclaim();
        story.settled();

        String text = String.join("\n", explained(reclaim, story.log()).lines());

        assertThat(text)
                .contains(reclaim.id() + ": reclaim infer/")
                .containsPattern("from job bert by 2026-01-01 \\d\\d:\\d\\d:\\d\\d UTC")
                .contains("  reason: ", "[demand]")
                .contains("15.0 requests/s offered to chat from 2026-01-01 00:")
                .contains(
                        "(1 = the speed of a job with a fair share); the chosen ones first, then the others, least first:")
                .contains("of job bert, which keeps 0: 1.000, training loses the least speed by it")
                .containsPattern(
                        "GPUs of job bert, before and after:\n  before: 1 \\(infer/.\\)\n  after: none\n  given up: infer/.")
                .contains(": lent to job bert until 2026-01-01 00:")
                .contains("-> releasing from job bert, free by 2026-01-01 00:")
                .contains("met: lending is on")
                .contains("Outcome: ")
                .contains("released by test: infer/", "Its GPUs: infer/")
                .endsWith(
                        "Replayed from the beginning with policy deepboot:protect-scale=1.0:place=near: equal to the record.");
    }

    @Test
    void aDecisionOfAnotherVersionIsTheSameInOtherWords() {
        Decision reclaim = reclaim();
        Reason old = new Reason(
                reclaim.reason().code(),
                "service chat needs 2",
                Map.of(),
                reclaim.reason().inputs());
        Decision recorded =
                new Decision(reclaim.id(), reclaim.at(), reclaim.deadline(), reclaim.advisory(), old, reclaim.action());

        assertThat(String.join("\n", explained(recorded, story.log()).lines()))
                .endsWith("the same decision. Another version worded its reason: "
                        + reclaim.reason().text());
    }

    @Test
    void toolsGetTheSameAsJson() {
        Decision reclaim = reclaim();
        story.settled();

        JsonNode json = explained(reclaim, story.log()).json();

        assertThat(json.at("/decision/kind").asText()).isEqualTo("reclaim");
        assertThat(json.at("/decision/countedAs").asText()).isEqualTo("reclaim");
        assertThat(json.at("/replay/equal").asBoolean()).isTrue();
        assertThat(json.at("/alternatives/0/chosen").asBoolean()).isTrue();
        assertThat(json.at("/needs/0/replicas").asInt()).isEqualTo(2);
        assertThat(json.at("/owners/0/before").asText()).startsWith("lent to job bert");
        assertThat(json.at("/outcome/reports/0/outcome").asText()).isEqualTo("released");
        assertThat(json.at("/guards/0/kept").asBoolean()).isTrue();
        assertThat(json.at("/inputs")).isNotEmpty();
    }

    @Test
    void aLoanShowsTheGpusOfTheJobBeforeAndAfter() {
        Decision lend = story.decisions().stream()
                .filter(decision -> decision.action().asLend().isPresent())
                .findFirst()
                .orElseThrow();
        Explained explained = explained(lend, story.log());

        assertThat(String.join("\n", explained.lines()))
                .contains("; from the smallest size:")
                .containsPattern(
                        "GPUs of job bert, before and after:\n  before: none\n  after: 1 \\(infer/.\\)\n  gained: infer/.\n");
        assertThat(explained.json().at("/job/name").asText()).isEqualTo("bert");
        assertThat(explained.json().at("/job/before")).isEmpty();
        assertThat(explained.json().at("/job/after")).hasSize(1);
        assertThat(explained.json().at("/job/gained"))
                .isEqualTo(explained.json().at("/job/after"));
        assertThat(explained.json().at("/job/givenUp")).isEmpty();
    }

    @Test
    void ofAGangItShowsHowManyGpusAreBound() {
        Scenario gang = Scenario.of("deepboot").node("train", Pool.TRAINING, 2);
        gang.tell(gang.jobRecord("big", 2, false).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && gang.job("big").gpus() == 0; i++) {
            gang.after(Duration.ofSeconds(5));
        }
        Decision start = gang.decisions().stream()
                .filter(decision -> decision.action().jobChange().isPresent())
                .findFirst()
                .orElseThrow();
        gang.tell(gang.report(
                start.id(),
                Outcome.BOUND,
                List.of(new GpuId("train-g0")),
                Optional.of(new Tenant.Job(new JobId("big")))));

        Explained explained = explained(gang, start, gang.log());

        assertThat(String.join("\n", explained.lines()))
                .contains("  gang, which trains once all these GPUs are bound, 2 GPUs: 1 of 2 GPUs bound, all by "
                        + Times.at(start.deadline()));
        assertThat(explained.json().at("/outcome/together/0/of").asText()).isEqualTo("gang");
        assertThat(explained.json().at("/outcome/together/0/bound").asInt()).isEqualTo(1);
    }

    @Test
    void ofAReplicaOfSeveralGpusItShowsHowManyAreBound() {
        Scenario groups =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4).actuator("one", Abilities.USUAL);
        groups.tell(groups.serviceRecord("chat", 1)
                .inShapes(List.of(ReplicaShape.of("tp2", 2, 1, 20, Duration.ofSeconds(8)))));
        Decision serve = groups.last().get(0);
        groups.settled();

        Explained explained = explained(groups, serve, groups.log());

        assertThat(String.join("\n", explained.lines()))
                .contains("  replica %s#0, shape tp2, 2 GPUs: all bound".formatted(serve.id()));
        assertThat(explained.json().at("/outcome/together/0/shape").asText()).isEqualTo("tp2");
        assertThat(explained.json().at("/outcome/together/0/bound").asInt()).isEqualTo(2);
    }

    @Test
    void theEndOfAJobIsCountedAsARelease() {
        story.progress("bert", JobPhase.FINISHED).settled();
        Decision release = story.decisions().stream()
                .filter(Decision::isRelease)
                .findFirst()
                .orElseThrow();

        JsonNode json = explained(release, story.log()).json();

        assertThat(json.at("/decision/kind").asText()).isEqualTo("reclaim");
        assertThat(json.at("/decision/countedAs").asText()).isEqualTo("release");
    }

    @Test
    void aLogWithoutItsBeginningIsNotReplayed() {
        Decision reclaim = reclaim();

        Explained explained =
                explained(reclaim, story.log().subList(3, story.log().size()));

        assertThat(explained.lines())
                .last()
                .isEqualTo("The log could not be replayed: the log begins with event 4: earlier ones are no longer"
                        + " kept. The explanation has only the recorded facts.");
        assertThat(explained.json().at("/replay/made").asBoolean()).isFalse();
    }

    @Test
    void anUnknownDecisionIsAnErrorThatNamesTheFirstAndTheLast() {
        var found = new FoundDecision(new DecisionId(Scenario.DOMAIN, 1, 99));
        story.decisions().forEach(found::take);

        assertThatThrownBy(found::wanted)
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "there is no decision test/1/99; domain test has decisions test/1/1 to test/1/%d.",
                        story.decisions().size());
    }

    @Test
    void anUnknownDomainIsAnErrorThatNamesTheDomains() {
        var found = new FoundDecision(DecisionId.parse("nowhere/1/1"));
        story.decisions().forEach(found::take);

        assertThatThrownBy(found::wanted)
                .hasMessage(
                        "there is no decision nowhere/1/1: domain 'nowhere' has no decisions. Domains with decisions: [test].");
    }

    @Test
    void aNumberAloneNamesTheDecisionOfTheOnlyDomain() {
        var numbered = new DecisionsByNumber("2");
        story.decisions().forEach(numbered::take);

        assertThat(numbered.wanted()).isEqualTo(DecisionId.parse("test/1/2"));
        assertThatThrownBy(() -> numbered("9999"))
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "there is no decision 9999; the last of domain test is test/1/%d.",
                        story.decisions().size());
    }

    @Test
    void aNumberAloneIsAnErrorInTwoDomains() {
        var numbered = new DecisionsByNumber("2");
        Decision here = story.decisions().get(0);
        numbered.take(here);
        numbered.take(new Decision(
                DecisionId.parse("west/1/2"), here.at(), here.deadline(), false, here.reason(), here.action()));

        assertThatThrownBy(numbered::wanted)
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "ID is '2', but there are 2 domains (test, west); name the decision as DOMAIN/EPOCH/SEQUENCE, such as"
                                + " test/1/2.");
    }

    @Test
    void aJobNamesItsNewestDecision() {
        Decision newest = story.decisions().stream()
                .filter(decision -> decision.action().jobChange().isPresent())
                .reduce((one, next) -> next)
                .orElseThrow();
        String job = newest.action().target();
        var search = new LastOfJob(job);
        story.decisions().forEach(search::take);
        search.take(story.decisions().get(0));

        assertThat(search.wanted()).isEqualTo(newest.id());
        assertThatThrownBy(() -> new LastOfJob("nothing").wanted())
                .isInstanceOf(UserError.class)
                .hasMessageContaining(
                        "there is no decision about job nothing. If 'lendstream get jobs' has it as queued, no plan has given it a GPU yet:");
    }

    private DecisionId numbered(String number) {
        var numbered = new DecisionsByNumber(number);
        story.decisions().forEach(numbered::take);
        return numbered.wanted();
    }

    @Test
    void anInvalidIdIsBadUsage() {
        assertThatThrownBy(() -> ExplainCommand.parsed("17", "a decision, such as east/1/17."))
                .isInstanceOf(UserError.class)
                .hasMessage("ID is '17', but must be a decision, such as east/1/17.");
    }

    /** The log with commands from this topic. */
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
    void showsTheOperatorBehindACommandAndTheGroup() {
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
    void showsTheCommandsInForce() {
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
