package io.lendstream.launcher.operation;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.JobShape;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Timings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.ClusterModel;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.ServiceState;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class OverviewTest {
    private final Scenario story = training("deepboot");

    private static Scenario training(String policy) {
        Scenario story = Scenario.of(policy)
                .node("train", Pool.TRAINING, 1)
                .node("infer", Pool.INFERENCE, 2)
                .service("chat", 1)
                .settled()
                .job("bert", 1);
        for (int i = 0; i < 20 && story.count("training") < 1; i++) {
            story.rate("chat", 5).settled().after(ofSeconds(15)).settled();
        }
        return story.progress("bert", JobPhase.RUNNING)
                .rate("chat", 5)
                .forecast("chat", 12)
                .settled();
    }

    /** The overview after the records of the story, in the order of the log or in the opposite one. */
    private Overview overview(boolean backwards) {
        return StoryOverview.of(story, backwards);
    }

    @Test
    void showsTheOwnerOfEachGpuTheNeedsOfServicesAndTheStateOfJobs() {
        List<String> lines = overview(false).lines(story.now(), false);

        assertThat(lines.get(0)).endsWith("3 GPUs: 1 free, 1 serving, 1 training");
        assertThat(lines)
                .anyMatch(
                        line -> line.matches(
                                "  chat +5\\.0 requests/s  needs 1 \\(current load\\); 1 serving, 0 warm, 0 starting; forecast 12\\.0 requests/s \\(p99\\), not used by deepboot"))
                .anyMatch(line -> line.matches("  bert +running +1 GPU, 0 lent, goodput .* iterations done"))
                .anyMatch(line -> line.contains("resize job bert to 1 GPU. Reason: "))
                .containsSubsequence("GPUS", "  infer  2 GPUs: 1 free, 1 serving", "  train  1 GPU: 1 training")
                .anyMatch(line -> line.matches("    train/0 +training job bert"));
        assertThat(lines).doesNotContain("ALARMS");
    }

    /** Compares the need that the overview shows with that of the scheduler, under a policy. */
    private static void assertNeedsAsItsScheduler(String policy, int ahead, String shown) {
        Scenario story = training(policy);
        ServiceState chat = story.state().services().require(new ServiceId("chat"));
        ReplicaNeed need = new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS).need(chat, story.now());

        Overview overview = StoryOverview.of(story, false);

        assertThat(need.ahead()).isEqualTo(ahead);
        JsonNode json = overview.json(story.now());
        assertThat(json.at("/services/0/needed").asInt()).isEqualTo(need.replicas());
        assertThat(json.at("/services/0/neededAhead").asInt()).isEqualTo(need.ahead());
        assertThat(json.at("/schedulers/0/policy").asText()).startsWith(policy);
        assertThat(json.at("/schedulers/0/noticeSeconds").asInt()).isEqualTo(45);
        assertThat(overview.lines(story.now(), false))
                .anyMatch(line -> line.contains(shown))
                .anyMatch(line -> line.matches("  test +policy " + policy + ".*, notice 45 s, lending on"));
    }

    @Test
    void needsAreThoseOfTheActiveScheduler() {
        assertNeedsAsItsScheduler("deepboot", 0, "needs 1 (current load)");
        assertNeedsAsItsScheduler("lendstream", 2, "needs 2 (1 for the current load, 2 expected)");
    }

    @Test
    void aForecastThatThePolicyIgnoresIsNoPartOfTheNeed() {
        String reactive = line(StoryOverview.of(training("deepboot"), false), "chat");
        String ahead = line(StoryOverview.of(training("lendstream"), false), "chat");

        assertThat(reactive).contains("needs 1 (current load)").endsWith("not used by deepboot");
        assertThat(reactive).doesNotContain("expected", "ahead");
        assertThat(ahead).contains("2 expected").doesNotContain("not used");
    }

    @Test
    void saysThatAForecastIsTooOldAndWhatReplacesIt() {
        Scenario silent = training("lendstream").rate("chat", 15).after(ofMinutes(3));
        for (int i = 0; i < 3; i++) {
            silent.after(ofSeconds(15)).rate("chat", 5).settled();
        }
        Overview overview = StoryOverview.of(silent, false);

        assertThat(overview.lines(silent.now(), false))
                .filteredOn(line -> line.startsWith("  chat "))
                .singleElement()
                .asString()
                .contains("needs 2 (1 for the current load, 2 by the peak of the last 10 minutes)")
                .endsWith("forecast 12.0 requests/s (p99), too old: not used");
        assertThat(overview.json(silent.now()).at("/services/0/forecastUsed").asBoolean())
                .isFalse();
        assertThat(StoryOverview.of(training("lendstream"), false)
                        .json(story.now())
                        .at("/services/0/forecastUsed")
                        .asBoolean())
                .isTrue();
    }

    @Test
    void anOlderForecastDoesNotReplaceANewerOne() {
        Overview overview = overview(false);
        DemandForecast newer = lastForecast();
        overview.tell(new DemandForecast(
                newer.service(),
                newer.domain(),
                newer.issuedAt().minus(newer.step()),
                newer.step(),
                newer.model(),
                List.of(new HorizonQuantiles(ofMinutes(10), 40, 40, 40, 40)),
                Optional.empty(),
                Optional.empty()));

        assertThat(line(overview, "chat")).contains("; forecast 12.0 requests/s (p99)");
    }

    private DemandForecast lastForecast() {
        return story.log().stream()
                .map(DomainEvent::event)
                .filter(DemandForecast.class::isInstance)
                .map(DemandForecast.class::cast)
                .reduce((first, last) -> last)
                .orElseThrow();
    }

    private String line(Overview overview, String service) {
        return overview.lines(story.now(), false).stream()
                .filter(line -> line.startsWith("  " + service + " "))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void showsTheUseOfQueues() {
        Scenario queued = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 4)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .queue("team-b", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .service("chat", 0, "team-a")
                .service("code", 0, "team-z")
                .rate("chat", 25)
                .settled();

        for (boolean backwards : List.of(false, true)) {
            Overview overview = StoryOverview.of(queued, backwards);
            assertThat(overview.lines(queued.now(), false))
                    .contains(
                            "QUEUES",
                            "  team-a               uses 2 of at most 2 GPUs (nominal quota 1); borrows 1; weighted share 0.50 of cohort all",
                            "  team-b               uses 0 of at most 1 GPU (nominal quota 1); weighted share 0.00 of cohort all",
                            "  service code names queue team-z, which is not declared: it has no quota");
            JsonNode json = overview.json(queued.now());
            assertThat(json.at("/queues/0/queue").asText()).isEqualTo("team-a");
            assertThat(json.at("/queues/0/quotas/0/used").asDouble()).isEqualTo(2);
            assertThat(json.at("/queues/0/quotas/0/borrowed").asDouble()).isEqualTo(1);
        }
    }

    @Test
    void aQueueOfAnotherDomainLimitsNoTenant() {
        Scenario queued = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 2)
                .service("chat", 1, "team-a")
                .settled();
        Overview overview = StoryOverview.of(queued, false);
        KindQuota quota = KindQuota.of(Optional.empty(), 1);
        overview.tell(new ClusterQueue(
                new QueueId("team-a"), new DomainId("east"), queued.now(), Optional.empty(), 1, List.of(quota)));

        assertThat(overview.lines(queued.now(), false))
                .contains(
                        "  team-a               uses 0 of at most 1 GPU (nominal quota 1)",
                        "  service chat names queue team-a of domain east, but is in domain test: it has no quota");

        overview.tell(new ClusterQueue(
                new QueueId("team-a"), Scenario.DOMAIN, queued.now(), Optional.empty(), 1, List.of(quota)));

        assertThat(overview.lines(queued.now(), false))
                .contains(
                        "  team-a (east)        uses 0 of at most 1 GPU (nominal quota 1)",
                        "  team-a (test)        uses 1 of at most 1 GPU (nominal quota 1)");
    }

    @Test
    void aRefusedJobShowsWhy() {
        Scenario refused = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .queue("team-a", 1)
                .rigidJob("bert", 2, "team-a")
                .after(ofSeconds(61));
        String why =
                "bert is refused: it needs 2 GPUs at once, and queue team-a may use at most 1 GPU, with all that it can borrow";

        for (boolean backwards : List.of(false, true)) {
            Overview overview = StoryOverview.of(refused, backwards);
            assertThat(overview.lines(refused.now(), false))
                    .anyMatch(line -> line.matches("  bert +queued +0 GPUs, 0 lent; " + why));
            assertThat(overview.json(refused.now()).at("/jobs/0/refused").asText())
                    .isEqualTo(why);
        }
        refused.queue("team-a", 2).after(ofSeconds(61));
        for (boolean backwards : List.of(false, true)) {
            assertThat(StoryOverview.of(refused, backwards)
                            .json(refused.now())
                            .at("/jobs/0")
                            .has("refused"))
                    .isFalse();
        }
    }

    @Test
    void aJobWithGpusIsNotRefused() {
        Scenario approved = Scenario.of("deepboot")
                .node("train", Pool.TRAINING, 2)
                .queue("team-a", 1)
                .rigidJob("bert", 2, "team-a")
                .after(ofSeconds(61))
                .control(ControlCommand.Kind.ADVISORY_ON)
                .queue("team-a", 2)
                .after(ofSeconds(61));
        Decision advice = approved.decisions().stream()
                .filter(decision -> decision.action().jobChange().isPresent())
                .findFirst()
                .orElseThrow();
        approved.approve(advice.id()).settled();

        Overview overview = StoryOverview.of(approved, false);

        JsonNode job = overview.json(approved.now()).at("/jobs/0");
        assertThat(job.get("gpus").asInt()).isEqualTo(2);
        assertThat(job.has("refused")).isFalse();
        assertThat(overview.lines(approved.now(), false))
                .noneMatch(line -> line.startsWith("  bert ") && line.contains("refused"));
    }

    @Test
    void showsActuatorsAndNodesThatTwoClaim() {
        Scenario described = Scenario.of("deepboot")
                .node("infer", Pool.INFERENCE, 1)
                .node("train", Pool.TRAINING, 1)
                .actuator("one", Abilities.USUAL.withMig(false))
                .after(ofSeconds(1))
                .actuator("one", Abilities.USUAL, "infer")
                .actuator("two", Abilities.USUAL.withSpansNodes(false), "infer", "train");

        for (boolean backwards : List.of(false, true)) {
            Overview overview = StoryOverview.of(described, backwards);
            assertThat(overview.lines(described.now(), false))
                    .contains(
                            "  actuators one and two both claim node infer; set actuator.nodes of each",
                            "ACTUATORS",
                            "  one                  domain test, driver simulated, nodes infer: chooses unit at bind and unit at release, lends slice, can: mig, spansNodes",
                            "  two                  domain test, driver simulated, nodes infer,train: chooses unit at bind and unit at release, lends slice, can: mig");
            JsonNode json = overview.json(described.now());
            assertThat(json.at("/actuators/0/actuator").asText()).isEqualTo("one");
            assertThat(json.at("/actuators/1/spansNodes").asBoolean()).isFalse();
            assertThat(json.at("/actuators/1/nodes/1").asText()).isEqualTo("train");
            assertThat(overview.described().finding().isFailure()).isTrue();
            assertThat(overview.described().finding().found())
                    .isEqualTo("actuators one and two both claim node infer; set actuator.nodes of each");
        }
    }

    @Test
    void timesHaveDateAndZoneAndVirtualTimeIsMarked() {
        assertThat(overview(false).lines(story.now(), false).get(0))
                .matches("2026-01-01 \\d\\d:\\d\\d:\\d\\d UTC  3 GPUs: .*");
        assertThat(overview(false).lines(story.now(), true))
                .contains("LAST DECISIONS (UTC, virtual)")
                .anyMatch(line -> line.matches("2026-01-01 \\d\\d:\\d\\d:\\d\\d UTC \\(virtual\\)  3 GPUs: .*"));
    }

    @Test
    void theEndOfAJobIsShownAsARelease() {
        story.progress("bert", JobPhase.FINISHED).settled();

        assertThat(overview(false).lines(story.now(), false))
                .anyMatch(line -> line.matches("  2026-01-01 .*: release .* \\(job bert finished\\)"));
    }

    @Test
    void theLastSchedulerCountsAndItsNoticeToo() {
        Overview overview = StoryOverview.of(training("deepboot"), false);
        Duration longNotice = Duration.ofMinutes(10);
        SchedulerSettings settings = SchedulerSettings.of(Map.of(
                "notice",
                longNotice.toString(),
                "lease",
                longNotice.multipliedBy(4).toString()));
        overview.tell(new SchedulerStarted(
                Scenario.DOMAIN, story.now(), 2, "lendstream", settings.toMap(), Optional.empty()));
        overview.tell(new SchedulerStarted(Scenario.DOMAIN, story.now(), 1, "deepboot", Map.of(), Optional.empty()));

        JsonNode json = overview.json(story.now());

        assertThat(json.at("/schedulers")).hasSize(1);
        assertThat(json.at("/schedulers/0/epoch").asInt()).isEqualTo(2);
        assertThat(json.at("/schedulers/0/noticeSeconds").asInt()).isEqualTo(600);
        assertThat(json.at("/services/0/neededAhead").asInt()).isEqualTo(2);
    }

    @Test
    void withoutAKnownSchedulerOnlyTheLeastNeedIsShown() {
        Overview overview = new Overview();
        story.log().stream()
                .map(DomainEvent::event)
                .filter(event -> event.asStarted().isEmpty())
                .forEach(overview::tell);
        overview.tell(new SchedulerStarted(
                Scenario.DOMAIN, story.now(), 1, "of-a-later-version", Map.of(), Optional.empty()));

        JsonNode json = overview.json(story.now());

        assertThat(json.at("/schedulers")).isEmpty();
        assertThat(json.at("/services/0/needed").asInt()).isEqualTo(1);
        assertThat(json.at("/services/0/neededAhead").isMissingNode()).isTrue();
        assertThat(overview.lines(story.now(), false))
                .anyMatch(line -> line.contains("needs at least 1 (1 for the current load; its scheduler is unknown)"));
    }

    @Test
    void showsAForecastInGpusToo() {
        Overview overview = overview(false);
        DemandForecast inGpus = new ReplicaCapacity(10, 0).inGpus(lastForecast());
        overview.tell(inGpus);

        assertThat(overview.lines(story.now(), false))
                .anyMatch(line -> line.contains("; forecast 12.0 requests/s, 2 GPUs (p99)"));
        assertThat(overview.json(story.now()).at("/services/0/forecastP99Gpus").asInt())
                .isEqualTo(2);
        assertThat(overview(false)
                        .json(story.now())
                        .at("/services/0/forecastP99Gpus")
                        .isMissingNode())
                .isTrue();
        assertThat(EventText.gist(inGpus)).endsWith("below 12.0 with 99 % probability (1 and 2 GPUs)");
    }

    @Test
    void topicsMayBeReadInAnyOrder() {
        JsonNode one = overview(false).json(story.now());
        JsonNode other = overview(true).json(story.now());

        assertThat(other.get("gpus")).isEqualTo(one.get("gpus"));
        assertThat(other.at("/services/0/needed")).isEqualTo(one.at("/services/0/needed"));
        assertThat(one.at("/services/0/serving").asInt()).isEqualTo(1);
        assertThat(one.at("/jobs/0/job").asText()).isEqualTo("bert");
    }

    @Test
    void alarmsAreCommandsQuarantinedGpusAndSilentServices() {
        story.sample("infer", Optional.of(79))
                .control(ControlCommand.Kind.FREEZE)
                .after(ofSeconds(60));

        assertThat(overview(false).alarms(story.now()))
                .anyMatch(
                        alarm -> alarm.matches(
                                "domain test: frozen by tester \\(not authenticated\\) since 2026-01-01 ..:..:.. UTC until 'lendstream thaw'; reason: for the test"))
                .anyMatch(alarm -> alarm.startsWith("infer-g0: quarantined: XID 79"))
                .anyMatch(alarm -> alarm.startsWith("service chat: no request rate since 2026-01-01 00:"));

        story.control(ControlCommand.Kind.THAW);

        assertThat(overview(false).alarms(story.now())).noneMatch(alarm -> alarm.contains("frozen"));
    }

    private void assertLending(String shown) {
        assertThat(overview(false).lines(story.now(), false))
                .filteredOn(line -> line.matches("  test +policy .*"))
                .singleElement()
                .asString()
                .endsWith(", lending " + shown);
        assertThat(overview(false)
                        .json(story.now())
                        .at("/schedulers/0/lendingState")
                        .asText())
                .isEqualTo(shown);
    }

    @Test
    void aCommandThatStopsLendingShowsAtTheScheduler() {
        assertLending("on");

        story.control(ControlCommand.Kind.FREEZE);
        assertLending("frozen");

        story.control(ControlCommand.Kind.RECLAIM_ALL);
        assertLending("stopped");

        story.control(ControlCommand.Kind.THAW);
        assertLending("on");
    }

    @Test
    void advisoryModeShowsAtTheScheduler() {
        story.control(ControlCommand.Kind.ADVISORY_ON);

        assertThat(overview(false).lines(story.now(), false))
                .anyMatch(line -> line.matches("  test +policy .*, lending on \\(advisory: only advice\\)"));
        JsonNode scheduler = overview(false).json(story.now()).at("/schedulers/0");
        assertThat(scheduler.get("lendingState").asText()).isEqualTo("on");
        assertThat(scheduler.get("advisory").asBoolean()).isTrue();

        story.control(ControlCommand.Kind.ADVISORY_OFF);

        assertLending("on");
        assertThat(overview(false)
                        .json(story.now())
                        .at("/schedulers/0/advisory")
                        .asBoolean())
                .isFalse();
    }

    @Test
    void anActuatorThatDoesNotAnswerIsAnAlarm() {
        Instant made = story.now();
        GpuId gpu = new GpuId("infer-g0");
        DecisionId id = new DecisionId(Scenario.DOMAIN, 1, 100);
        Overview overview = new Overview();
        overview.watchActuators();

        Decision decision = new Decision(
                id,
                made,
                made.plusSeconds(45),
                false,
                new Reason("lease", "", Map.of(), List.of(1L)),
                new Action.Renew(List.of(gpu), made.plusSeconds(45)));
        overview.decided(decision, made);

        assertThat(overview.alarms(made.plusSeconds(10))).isEmpty();
        assertThat(overview.alarms(made.plusSeconds(11)))
                .singleElement()
                .asString()
                .startsWith(
                        "actuators: 1 of 1 binding decision of the last hour waits for an answer, for up to 11s, more than 10s: test/1/100; operator of the actuator's machine: check that 'lendstream actuator' runs");
        assertThat(overview.json(made.plusSeconds(11)).get("alarms")).hasSize(1);

        overview.tell(new ActuationReport(
                Scenario.DOMAIN,
                id,
                "actuator",
                made.plusSeconds(12),
                Outcome.ACCEPTED,
                List.of(gpu),
                Optional.empty(),
                Timings.NONE,
                ""));

        assertThat(overview.alarms(made.plusSeconds(13))).isEmpty();
    }

    /** Such as one that an operator has approved. */
    @Test
    void aStartThatFailedIsAnAlarmUntilOneSucceedsOrForAQuarterOfAnHour() {
        Overview overview = new Overview();
        Instant at = story.now();
        overview.tell(started(at, Outcome.FAILED, "its program /opt/chat does not exist on this machine"));

        assertThat(overview.alarms(at.plusSeconds(900)))
                .singleElement()
                .asString()
                .startsWith("service chat: not started by actuator gpu-7 at ")
                .endsWith(": its program /opt/chat does not exist on this machine");
        assertThat(overview.alarms(at.plusSeconds(901))).isEmpty();
        overview.tell(started(at.plusSeconds(30), Outcome.BOUND, ""));
        assertThat(overview.alarms(at.plusSeconds(31))).isEmpty();
    }

    private static ActuationReport started(Instant at, Outcome outcome, String reason) {
        return new ActuationReport(
                Scenario.DOMAIN,
                new DecisionId(Scenario.DOMAIN, 1, 7),
                "gpu-7",
                at,
                outcome,
                List.of(new GpuId("infer-g0")),
                Optional.of(new Tenant.Service(new ServiceId("chat"))),
                Timings.NONE,
                reason);
    }

    @Test
    void anInstanceThatWasDestroyedIsGone() {
        Overview overview = overview(false);

        overview.removed(TopicCatalogue.LEASES, "train-g0");

        assertThat(overview.json(story.now()).get("gpus")).hasSize(2);
    }

    @Test
    void aJobThatWasDeletedIsGone() {
        Overview overview = overview(false);
        JsonNode before = overview.json(story.now()).get("jobs");

        overview.removed(TopicCatalogue.TRAINING_JOBS, before.get(0).get("job").asText());

        assertThat(overview.json(story.now()).get("jobs")).hasSize(before.size() - 1);
    }

    @Test
    void showsTheKindsOfReplicasAndTheNeedByThem() {
        Scheduler kinds =
                new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS.withModel(ClusterModel.KINDS));
        Scenario mixed = new Scenario(kinds)
                .node("infer-1", Pool.INFERENCE, 4, "Tesla T4", 16)
                .node("infer-2", Pool.INFERENCE, 1, "NVIDIA A100-SXM4-80GB", 80);
        mixed.tell(mixed.serviceRecord("chat", 0)
                        .onKinds(List.of(
                                KindCapacity.of(new KindId("A100-SXM4-80GB"), 10),
                                KindCapacity.of(new KindId("Tesla-T4-16GB"), 2))))
                .rate("chat", 10)
                .settled();

        Overview overview = StoryOverview.of(mixed, false);

        assertThat(overview.lines(mixed.now(), false))
                .anyMatch(line -> line.contains("needs 2 (current load); 2 serving, 0 warm, 0 starting"
                        + " (1 A100-SXM4-80GB, 1 Tesla-T4-16GB)"));
        JsonNode json = overview.json(mixed.now());
        assertThat(json.at("/services/0/needed").asInt()).isEqualTo(2);
        assertThat(json.at("/services/0/replicasByKind/Tesla-T4-16GB").asInt()).isEqualTo(1);
    }

    private static Decision lastOf(Scenario story, Predicate<Action> kind) {
        return story.decisions().stream()
                .filter(decision -> kind.test(decision.action()))
                .reduce((older, newer) -> newer)
                .orElseThrow();
    }

    @Test
    void showsTheReplicaThatAGpuIsAPartOf() {
        Scenario groups =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4).actuator("one", Abilities.USUAL);
        groups.tell(groups.serviceRecord("chat", 1)
                .inShapes(List.of(
                        ReplicaShape.of("tp2", 2, 1, 20, Duration.ofSeconds(8)).as(ReplicaRole.ALL))));
        Decision serve = lastOf(groups, action -> action.asServe().isPresent());
        GpuId bound = serve.action().gpus().get(1);
        Optional<Tenant> chat = Optional.of(new Tenant.Service(new ServiceId("chat")));
        groups.tell(groups.report(serve.id(), Outcome.BOUND, List.of(bound), chat));

        Overview overview = StoryOverview.of(groups, false);

        String part = "; part of replica %s#0 of chat, shape tp2, 2 GPUs on 1 node: 1 of 2 GPUs bound, all by %s"
                .formatted(serve.id(), Times.at(serve.deadline()));
        assertThat(overview.lines(groups.now(), false).stream().filter(line -> line.endsWith(part)))
                .hasSize(2);
        JsonNode shown = overview.json(groups.now()).at("/gpus/0/part");
        assertThat(shown.at("/of").asText()).isEqualTo("replica");
        assertThat(shown.at("/name").asText()).isEqualTo(serve.id() + "#0");
        assertThat(shown.at("/shape").asText()).isEqualTo("tp2");
        assertThat(shown.at("/role").asText()).isEqualTo("all");
        assertThat(shown.at("/gpus").asInt()).isEqualTo(2);
        assertThat(shown.at("/left").asInt()).isEqualTo(2);
        assertThat(shown.at("/bound").asInt()).isEqualTo(1);
        assertThat(shown.at("/boundBy").asText()).isEqualTo(serve.deadline().toString());

        groups.tell(groups.report(serve.id(), Outcome.BOUND, serve.action().gpus(), chat));
        assertThat(StoryOverview.of(groups, false).lines(groups.now(), false))
                .filteredOn(line -> line.endsWith("shape tp2, 2 GPUs on 1 node: all bound"))
                .hasSize(2);
    }

    @Test
    void showsTheGangThatAGpuIsFor() {
        Scenario gang = Scenario.of("deepboot").node("train", Pool.TRAINING, 2);
        gang.tell(gang.jobRecord("bert", 2, false).shaped(JobShape.ANY.together()));
        for (int i = 0; i < 60 && gang.job("bert").gpus() == 0; i++) {
            gang.after(ofSeconds(5));
        }
        Decision start = lastOf(gang, action -> action.jobChange().isPresent());
        Optional<Tenant> bert = Optional.of(new Tenant.Job(new JobId("bert")));
        gang.tell(gang.report(start.id(), Outcome.BOUND, List.of(new GpuId("train-g1")), bert));

        Overview overview = StoryOverview.of(gang, false);

        assertThat(overview.lines(gang.now(), false))
                .filteredOn(line -> line.endsWith(
                        "; one of 2 GPUs on 1 node that gang bert gets together: 1 of 2 GPUs bound, all by "
                                + Times.at(start.deadline())))
                .hasSize(2);
        assertThat(overview.json(gang.now()).at("/gpus/0/part/of").asText()).isEqualTo("gang");

        gang.tell(gang.report(start.id(), Outcome.BOUND, List.of(new GpuId("train-g0")), bert));
        assertThat(StoryOverview.of(gang, false).json(gang.now()).at("/gpus/0").has("part"))
                .isFalse();
    }

    @Test
    void showsTheRolesOfAService() {
        Scenario parts =
                Scenario.of("deepboot").node("infer", Pool.INFERENCE, 4).actuator("one", Abilities.USUAL);
        parts.tell(parts.serviceRecord("chat", 1)
                        .inShapes(List.of(
                                ReplicaShape.of("in", 1, 1, 20, Duration.ofSeconds(8))
                                        .as(ReplicaRole.PREFILL),
                                ReplicaShape.of("out", 1, 1, 10, Duration.ofSeconds(8))
                                        .as(ReplicaRole.DECODE))))
                .settled()
                .rate("chat", 10)
                .settled();

        Overview overview = StoryOverview.of(parts, false);

        assertThat(overview.lines(parts.now(), false))
                .anyMatch(line -> line.contains(
                        "needs 3 (current load): 1 of 1 prefill, 2 of 2 decode; 3 serving, 0 warm, 0 starting"));
        JsonNode json = overview.json(parts.now());
        assertThat(json.at("/services/0/roles/decode/needed").asInt()).isEqualTo(2);
        assertThat(json.at("/services/0/roles/prefill/serving").asInt()).isEqualTo(1);
    }
}
