package io.lendstream.launcher.operation;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.LoanStory;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.SlotKnowledge;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplainedGpusTest {
    private final Scenario story = LoanStory.besideALargeJob();

    private static List<Lease> leases(Scenario story) {
        return story.state().gpus().stream()
                .map(gpu -> gpu.lease(Scenario.DOMAIN, story.state().epoch()))
                .toList();
    }

    private ExplainedGpus explained(Optional<GpuId> wanted, List<DomainEvent> log) {
        ExplainedGpus explained = new ExplainedGpus(leases(story), wanted, StoryNames.of(story));
        log.forEach(explained::take);
        return explained;
    }

    private static String label(JsonNode gpu, String field) {
        return gpu.path(field).asText();
    }

    @Test
    void explainsForEachGpuOfInferenceWhyItIsNotLent() {
        List<String> lines = explained(Optional.empty(), story.log()).lines(story.now());

        assertThat(lines).hasSize(4);
        assertThat(lines)
                .anyMatch(
                        line -> line.startsWith("infer/0 is not lent: chat runs on it: 1 needed for the current load"))
                .anyMatch(line -> line.matches("infer/. is lent: .*test/1/.*\\(until 2026-01-01 00:.* UTC\\)"))
                .anyMatch(line -> line.matches("infer/. is not lent: policy deepboot gives it to no job: .*"
                        + "big needs 8 GPUs at once, and training may use 2.*"));
        assertThat(lines.get(3))
                .isEqualTo(
                        "(domain test after event %d of its log, %s, replayed from the beginning; policy deepboot:protect-scale=1.0:place=near, next"
                                + " plan at %s)",
                        story.state().eventSequence(),
                        Times.exact(story.now()),
                        Times.exact(story.state().nextPlanAt().orElseThrow()));
    }

    @Test
    void withoutJobsThePlanWaitsForAChange() {
        Scenario idle = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 1)
                .service("chat", 1)
                .settled();
        for (int i = 0; i < 20; i++) {
            idle.rate("chat", 1).settled().after(ofSeconds(15)).settled();
        }
        Instant next = idle.state().nextPlanAt().orElseThrow();
        ExplainedGpus explained = new ExplainedGpus(leases(idle), Optional.empty(), StoryNames.of(idle));
        idle.log().forEach(explained::take);

        assertThat(next).isAfter(idle.now().plusSeconds(60));
        assertThat(explained.lines(idle.now()))
                .last()
                .asString()
                .endsWith(", next plan when a job or GPU changes, at the latest at %s)".formatted(Times.exact(next)));
    }

    @Test
    void whileTheDomainIsFrozenNoPlanIsAnnounced() {
        story.control(ControlCommand.Kind.FREEZE);
        ExplainedGpus explained = explained(Optional.empty(), story.log());

        assertThat(explained.lines(story.now()))
                .noneMatch(line -> line.contains("next plan"))
                .last()
                .asString()
                .endsWith("near, lending is frozen: no plan until 'lendstream thaw')");
        JsonNode domain = explained.json(story.now()).at("/domains/0");
        assertThat(domain.get("frozen").asBoolean()).isTrue();
        assertThat(domain.has("nextPlanAt")).isFalse();
    }

    @Test
    void explainsOneGpuAndShowsItsUuid() {
        assertThat(explained(Optional.of(new GpuId("infer-g0")), story.log()).lines(story.now()))
                .hasSize(3)
                .endsWith("(infer/0 (infer-g0))")
                .first()
                .asString()
                .startsWith("infer/0 is not lent: ");
    }

    @Test
    void saysThatTheTenantOfASlotMayHaveAnotherGpu() {
        List<Lease> slots = story.state().gpus().stream()
                .map(gpu -> gpu.placed(Optional.of(SlotKnowledge.slot(Optional.of("slurm/7"))))
                        .lease(Scenario.DOMAIN, story.state().epoch()))
                .toList();
        ExplainedGpus explained = new ExplainedGpus(slots, Optional.of(new GpuId("infer-g0")), StoryNames.of(story));
        story.log().forEach(explained::take);

        assertThat(explained.lines(story.now()))
                .endsWith("(infer/0 (infer-g0), a slot: its tenant may have another GPU like it on its node)");
        assertThat(explained.json(story.now()).at("/domains/0/gpus/0/slot").asBoolean())
                .isTrue();
    }

    @Test
    void saysWhichReplicaAGpuIsAPartOf() {
        Scenario groups =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4).actuator("one", Abilities.USUAL);
        groups.tell(groups.serviceRecord("chat", 1)
                .inShapes(List.of(ReplicaShape.of("in", 2, 1, 20, ofSeconds(8)).as(ReplicaRole.PREFILL))));
        Decision serve = groups.last().get(0);
        GpuId gpu = serve.action().gpus().get(0);
        ExplainedGpus explained = new ExplainedGpus(leases(groups), Optional.of(gpu), StoryNames.of(groups));
        groups.log().forEach(explained::take);

        assertThat(explained.lines(groups.now()))
                .first()
                .asString()
                .startsWith("infer/0 is not lent: it is being bound to ")
                .endsWith(
                        "; part of replica %s#0 of chat, shape in (prefill), 2 GPUs on 1 node: 0 of 2 GPUs bound, all by %s"
                                .formatted(serve.id(), Times.at(serve.deadline())));
        assertThat(explained
                        .json(groups.now())
                        .at("/domains/0/gpus/0/part/gpus")
                        .asInt())
                .isEqualTo(2);
    }

    @Test
    void toolsGetTheSameAsJson() {
        JsonNode json = explained(Optional.empty(), story.log()).json(story.now());

        JsonNode domain = json.at("/domains/0");
        assertThat(label(domain, "domain")).isEqualTo("test");
        assertThat(label(domain, "policy")).isEqualTo("deepboot:protect-scale=1.0:place=near");
        assertThat(domain.get("event").asLong()).isEqualTo(story.state().eventSequence());
        assertThat(label(domain, "nextPlanAt")).isNotEmpty();
        assertThat(domain.get("frozen").asBoolean()).isFalse();
        assertThat(domain.get("gpus"))
                .extracting(gpu -> label(gpu, "cause"))
                .containsExactlyInAnyOrder("in-use", "lent", "not-planned");
        assertThat(domain.get("gpus")).allSatisfy(gpu -> {
            assertThat(label(gpu, "node")).isEqualTo("infer");
            assertThat(label(gpu, "pool")).isEqualTo("inference");
            assertThat(label(gpu, "reason")).isNotEmpty();
        });
        assertThat(domain.get("gpus")).anySatisfy(gpu -> {
            assertThat(label(gpu, "owner")).isEqualTo("lent");
            assertThat(label(gpu, "until")).isNotEmpty();
        });
    }

    @Test
    void aLogWithoutItsBeginningShowsOnlyOwners() {
        ExplainedGpus explained =
                explained(Optional.empty(), story.log().subList(3, story.log().size()));

        assertThat(explained.lines(story.now()))
                .hasSize(3)
                .contains(
                        "infer/0: serving chat; the reason is unknown: the log begins with event 4: earlier ones are no longer"
                                + " kept");
        JsonNode domain = explained.json(story.now()).at("/domains/0");
        assertThat(label(domain, "obstacle")).startsWith("the log begins with event 4");
        assertThat(domain.at("/gpus/0/owner").asText()).isEqualTo("serving");
        assertThat(domain.at("/gpus/0/cause").isMissingNode()).isTrue();
    }

    @Test
    void withoutReplayTheOutputSaysSo() {
        assertThat(explained(Optional.empty(), List.of()).lines(story.now()))
                .contains("infer/0: serving chat; the reason is unknown: the log was not replayed");
    }

    @Test
    void anUnknownGpuIsAnErrorThatNamesSome() {
        assertThatThrownBy(() -> explained(Optional.of(new GpuId("none")), List.of()))
                .isInstanceOf(UserError.class)
                .hasMessage(
                        "GPU 'none' has no lease; the first of 3 GPUs with a lease: infer/0 (infer-g0), infer/1 (infer-g1),"
                                + " infer/2 (infer-g2).");
        assertThatThrownBy(() -> new ExplainedGpus(List.of(), Optional.empty(), new GpuNames()))
                .hasMessage("no GPU of inference has a lease; no GPU has a lease yet.");
    }

    @Test
    void anIdNamesAGpuUnlessItIsADecisionOfADomainOfThatName() {
        assertThat(ExplainCommand.isOf("gpu", "gpu")).isTrue();
        assertThat(ExplainCommand.isOf("gpu", "gpu/GPU-5a3f")).isTrue();
        assertThat(ExplainCommand.isOf("gpu", "gpu/GPU-5a3f/0:4")).isTrue();
        assertThat(ExplainCommand.isOf("gpu", "gpu/1/17")).isFalse();
        assertThat(ExplainCommand.isOf("gpu", "default/1/17")).isFalse();
        assertThat(ExplainCommand.named("gpu", "gpu")).isEmpty();
        assertThat(ExplainCommand.isOf("gpu", "gpu/node-3/5")).isTrue();
        assertThat(ExplainCommand.named("gpu", "gpu/GPU-5a3f/0:4")).contains("GPU-5a3f/0:4");
        assertThat(ExplainCommand.named("gpu", "gpu/node-3/5:1g.10gb-2")).contains("node-3/5:1g.10gb-2");
        assertThatThrownBy(() -> ExplainCommand.named("gpu", "gpu/")).isInstanceOf(UserError.class);
    }
}
