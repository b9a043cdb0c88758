package io.lendstream.launcher.operation;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.core.demand.ReplicaCapacity;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    /** What topics say of the story; in the order of the log, or in the opposite one. */
    private Overview overview(boolean backwards) {
        return overview(story, backwards);
    }

    private static Overview overview(Scenario story, boolean backwards) {
        List<Object> records = new ArrayList<>();
        story.log().stream().map(DomainEvent::event).forEach(records::add);
        records.addAll(story.decisions());
        for (GpuState gpu : story.state().gpus().values()) {
            records.add(gpu.lease(Scenario.DOMAIN, story.state().epoch()));
        }
        if (backwards) {
            Collections.reverse(records);
        }
        Overview overview = new Overview();
        records.forEach(overview::tell);
        return overview;
    }

    @Test
    void showsWhoHasWhichGpuAndWhatServicesNeedAndHowJobsGetOn() {
        List<String> lines = overview(false).lines(story.now());

        assertThat(lines.get(0)).endsWith("3 GPUs: 1 free, 1 serving, 1 training");
        assertThat(lines)
                .anyMatch(
                        line -> line.matches(
                                "  chat +5\\.0 requests/s, 99 % under 12\\.0 ahead  needs 1 \\(1 now, 0 ahead\\), 1 serve, 0 warm, 0 start"))
                .anyMatch(line -> line.matches("  bert +running +1 GPU, 0 lent, goodput .* iterations done"))
                .anyMatch(line -> line.matches("  train-g0 +train +training job bert"))
                .anyMatch(line -> line.contains("resize job bert to 1 GPU, because from 0 to 1 GPU"));
        assertThat(lines).doesNotContain("ALARMS");
    }

    /** A story that is at the same point under another policy, and what its scheduler reckons. */
    private static void assertNeedsAsItsScheduler(String policy, int ahead) {
        Scenario story = training(policy);
        ServiceState chat = story.state().services().require(new ServiceId("chat"));
        ReplicaNeed need = new Scheduler(Policies.parse(policy), SchedulerSettings.DEFAULTS).need(chat, story.now());

        Overview overview = overview(story, false);

        assertThat(need.ahead()).isEqualTo(ahead);
        JsonNode json = overview.json(story.now());
        assertThat(json.at("/services/0/needed").asInt()).isEqualTo(need.replicas());
        assertThat(json.at("/services/0/neededAhead").asInt()).isEqualTo(need.ahead());
        assertThat(json.at("/schedulers/0/policy").asText()).startsWith(policy);
        assertThat(json.at("/schedulers/0/noticeSeconds").asInt()).isEqualTo(45);
        assertThat(overview.lines(story.now()))
                .anyMatch(line -> line.contains(
                        "needs %d (%d now, %d ahead)".formatted(need.replicas(), need.now(), need.ahead())))
                .anyMatch(line -> line.matches("  test +policy " + policy + ".*, notice 45 s, lending on"));
    }

    @Test
    void needsAreThoseThatTheSchedulerInOfficeReckonsWith() {
        assertNeedsAsItsScheduler("deepboot", 0);
        assertNeedsAsItsScheduler("lendstream", 2);
    }

    @Test
    void theLastSchedulerCountsAndItsNoticeToo() {
        Overview overview = overview(training("deepboot"), false);
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
    void whereTheSchedulerIsNotKnownOnlyTheLeastNeedIsTold() {
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
        assertThat(overview.lines(story.now()))
                .anyMatch(line -> line.contains("needs at least 1 (1 now; its scheduler is not known)"));
    }

    @Test
    void tellsWhatAForecastComesToInGpus() {
        Overview overview = overview(false);
        DemandForecast forecast = story.log().stream()
                .map(DomainEvent::event)
                .filter(DemandForecast.class::isInstance)
                .map(DemandForecast.class::cast)
                .reduce((first, last) -> last)
                .orElseThrow();
        DemandForecast inGpus = new ReplicaCapacity(10, 0).inGpus(forecast);
        overview.tell(inGpus);

        assertThat(overview.lines(story.now())).anyMatch(line -> line.contains(", 99 % under 12.0 ahead, 2 GPUs  "));
        assertThat(overview.json(story.now()).at("/services/0/forecastP99Gpus").asInt())
                .isEqualTo(2);
        assertThat(overview(false)
                        .json(story.now())
                        .at("/services/0/forecastP99Gpus")
                        .isMissingNode())
                .isTrue();
        assertThat(EventText.gist(inGpus)).endsWith("in 99 of 100 cases less than 12.0: 1 and 2 GPUs");
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
    void alarmsAreWhatSomebodyOrderedWhatIsQuarantinedAndWhatIsSilent() {
        story.sample("infer", Optional.of(79))
                .control(ControlCommand.Kind.FREEZE)
                .after(ofSeconds(60));

        assertThat(overview(false).alarms(story.now()))
                .contains("domain test: frozen, as ordered")
                .anyMatch(alarm -> alarm.startsWith("infer-g0: quarantined: XID 79"))
                .anyMatch(alarm -> alarm.startsWith("service chat: nothing heard since 00:"));

        story.control(ControlCommand.Kind.THAW);

        assertThat(overview(false).alarms(story.now())).noneMatch(alarm -> alarm.contains("frozen"));
    }

    @Test
    void anInstanceThatWasDestroyedIsGone() {
        Overview overview = overview(false);

        overview.gone(new GpuId("train-g0"));

        assertThat(overview.json(story.now()).get("gpus")).hasSize(2);
    }
}
