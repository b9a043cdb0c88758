package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.Deployment.Printed;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.RecordWriter;
import io.lendstream.stack.ServiceKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two inference GPUs, one service, one job; a loan that is approved and a reclaim that demand asks for, operated from outside. */
@Timeout(value = 6, unit = TimeUnit.MINUTES)
final class OperationIT {
    private static final DomainId DOMAIN = new DomainId("default");
    private static final ServiceId CHAT = new ServiceId("chat");
    private static final JobId JOB = new JobId("bert");
    private static final JobId NEXT = new JobId("llama");
    private static final Duration WINDOW = Duration.ofSeconds(5);

    @TempDir
    private Path directory;

    private long sequence;
    private double perSecond = 5;

    @Test
    void aLoanIsAdvisedApprovedSeenTakenBackExplainedAndStoppedByCommands() throws Exception {
        try (Deployment deployment = new Deployment(1);
                RecordWriter cluster = RecordWriter.open(deployment.kafka(), Deployment.TOPICS, "/cluster")) {
            Deployment.Running scheduler = start(
                    deployment,
                    ServiceKind.SCHEDULER,
                    "--set",
                    "scheduler.policy=lendstream:plan-every=5s",
                    "--set",
                    "scheduler.snapshot-every=2s",
                    "--set",
                    "kafka.state.dir=" + directory.resolve("scheduler-state"));
            start(
                    deployment,
                    ServiceKind.ACTUATOR,
                    "--state-dir",
                    directory.resolve("done").toString());
            start(
                    deployment,
                    ServiceKind.AGENT,
                    "--backend",
                    "simulated",
                    "--nodes",
                    "1",
                    "--gpus-per-node",
                    "2",
                    "--training-nodes",
                    "0",
                    "--set",
                    "agent.period=2s");
            cluster.write(TopicCatalogue.SERVICES, CHAT.value(), chat());
            awaitLease(deployment, cluster, lease -> lease.owner() instanceof Owner.Serving);

            advises(deployment, cluster);
            shows(deployment, cluster);
            saysWhyGpusAreNotLent(deployment, cluster);
            deletes(deployment, cluster);
            explains(deployment, cluster);
            stops(deployment, cluster);
            examines(deployment, cluster);
            deletesServiceAndQueue(deployment, cluster);

            scheduler.process().destroyForcibly().waitFor();
            Printed unheard = deployment.process(directory, "freeze", "--timeout", "2s");
            assertThat(unheard.exit()).isEqualTo(1);
            assertThat(unheard.err()).contains("no scheduler of domain default took the command within --timeout 2s");
            Decision reclaim = deployment.read(TopicCatalogue.DECISIONS).stream()
                    .filter(OperationIT::isForDemand)
                    .findFirst()
                    .orElseThrow();
            new ExplainedReclaim(deployment, reclaim).withoutTheLog();
        }
    }

    private void advises(Deployment deployment, RecordWriter cluster) throws Exception {
        Printed on = deployment.process(directory, "advisory", "on", "--reason", "first installation");
        assertThat(on.exit()).as(on.err()).isZero();
        assertThat(on.out()).startsWith("domain default: decisions are advice from now on");
        cluster.write(TopicCatalogue.TRAINING_JOBS, JOB.value(), job(JOB));
        Decision advice = awaitDecision(
                deployment, cluster, decision -> decision.advisory() && decision.action() instanceof Action.Lend);

        Printed approved = deployment.command("approve", advice.id().toString(), "--json");

        assertThat(approved.exit()).as(approved.out() + approved.err()).isZero();
        JsonNode made = json(approved).get(0).get("decisions").get(0);
        assertThat(made.get("kind").asText()).isEqualTo("lend");
        assertThat(made.get("advisory").asBoolean()).isFalse();
        assertThat(made.get("reason").asText()).contains(advice.id().toString());
        awaitLease(deployment, cluster, lease -> lease.owner() instanceof Owner.Lent);

        Printed twice = deployment.command("approve", made.get("id").asText());
        assertThat(twice.exit()).isEqualTo(1);
        assertThat(twice.err()).contains("is binding, not advice");
        assertThat(deployment.command("advisory", "off").exit()).isZero();
    }

    private void shows(Deployment deployment, RecordWriter cluster) throws Exception {
        tell(cluster);

        Printed top = deployment.command("top", "--once");

        assertThat(top.exit()).as(top.err()).isZero();
        assertThat(top.out()).contains("1 lent", "lent to job bert until", "serving chat", "5.0 requests/s");
        JsonNode json = json(deployment.command("top", "--once", "--json"));
        assertThat(json.get("gpus")).hasSize(2);
        assertThat(json.get("jobs").get(0).get("lent").asInt()).isEqualTo(1);
        assertThat(json.get("services").get(0).get("serving").asInt()).isEqualTo(1);
        assertThat(json.at("/schedulers/0/policy").asText()).isEqualTo("lendstream:plan-every=5s");
        assertThat(json.at("/services/0/neededAhead").isMissingNode()).isFalse();
    }

    private void saysWhyGpusAreNotLent(Deployment deployment, RecordWriter cluster) throws Exception {
        tell(cluster);

        Printed all = deployment.command("explain", "gpu");

        assertThat(all.exit()).as(all.err()).isZero();
        assertThat(all.out())
                .contains("is lent: ")
                .contains("is not lent: chat runs on it: 1 needed for the current load")
                .contains("(domain default after event ", "; policy lendstream:plan-every=5s, next plan at ");
        JsonNode gpus = json(deployment.command("explain", "gpu", "--json")).at("/domains/0/gpus");
        assertThat(gpus).extracting(gpu -> gpu.get("cause").asText()).containsExactlyInAnyOrder("lent", "in-use");
        String one = gpus.get(0).get("gpu").asText();
        String name = gpus.get(0).get("name").asText();
        assertThat(name).matches(".+/[01]");
        assertThat(deployment.command("explain", "gpu/" + one).out()).startsWith(name + " is ");
        assertThat(deployment.command("explain", "gpu/" + name).out()).startsWith(name + " is ");
        Printed unknown = deployment.command("explain", "gpu/none");
        assertThat(unknown.exit()).isEqualTo(1);
        assertThat(unknown.err()).startsWith("GPU 'none' has no lease; the first of 2 GPUs");
    }

    private void deletes(Deployment deployment, RecordWriter cluster) throws Exception {
        tell(cluster);
        assertThat(deployment.command("describe", "job", "bert").out())
                .containsPattern("STATE\n  bert .*1 GPU, 1 lent.*\n  .* lent to job bert until ");

        Printed deleted = deployment.command("delete", "job", "bert");

        assertThat(deleted.exit()).as(deleted.err()).isZero();
        assertThat(deleted.out()).isEqualTo("job/bert deleted\n");
        JsonNode top = json(deployment.command("top", "--once", "--json"));
        assertThat(top.get("jobs")).isEmpty();
        assertThat(top.get("gpus")).noneMatch(gpu -> gpu.toString().contains("bert"));
        cluster.write(TopicCatalogue.TRAINING_JOBS, NEXT.value(), job(NEXT));
        awaitLease(
                deployment,
                cluster,
                lease -> lease.owner() instanceof Owner.Lent
                        && lease.owner().holdingJob().filter(NEXT::equals).isPresent());
    }

    private void deletesServiceAndQueue(Deployment deployment, RecordWriter cluster) throws Exception {
        Path queue = Files.writeString(
                directory.resolve("queue.yaml"),
                "apiVersion: lendstream.io/v1\nkind: Queue\nmetadata: {name: team}\nspec: {}\n");
        assertThat(deployment.command("apply", "-f", queue.toString()).exit()).isZero();

        Printed deleted = deployment.command("delete", "service/chat");
        assertThat(deleted.exit()).as(deleted.err()).isZero();
        assertThat(deleted.out()).isEqualTo("service/chat deleted\n");
        Printed unused = deployment.command("delete", "queue", "team");
        assertThat(unused.exit()).as(unused.err()).isZero();

        tell(cluster); // a late rate brings nothing back
        JsonNode top = json(deployment.command("top", "--once", "--json"));
        assertThat(top.get("services")).isEmpty();
        assertThat(top.get("gpus")).noneMatch(gpu -> gpu.toString().contains("chat"));
        assertThat(deployment.command("get").out()).doesNotContain("chat", "team");
    }

    private void explains(Deployment deployment, RecordWriter cluster) throws Exception {
        perSecond = 15;
        Decision reclaim = awaitDecision(deployment, cluster, OperationIT::isForDemand);
        await().atMost(Deployment.PATIENCE)
                .until(() -> deployment.read(TopicCatalogue.ACTUATION_REPORTS).stream()
                        .anyMatch(report ->
                                report.decision().equals(reclaim.id()) && report.outcome() == Outcome.APPLIED));

        new ExplainedReclaim(deployment, reclaim).fromASnapshot();
        assertThat(deployment.command("explain", "advice").out())
                .startsWith("domain default: no advice, because advisory mode is off (event ");
        Printed unknown = deployment.command("explain", "default/1/9999");
        assertThat(unknown.exit()).isEqualTo(1);
        Decision last = last(deployment.read(TopicCatalogue.DECISIONS));
        assertThat(unknown.err())
                .startsWith("there is no decision default/1/9999; domain default has decisions default/1/1 to ")
                .contains("/" + last.id().epoch() + "/");
    }

    private void stops(Deployment deployment, RecordWriter cluster) throws Exception {
        tell(cluster);
        Printed frozen = deployment.command("freeze", "--domain", "default", "--reason", "tested");
        assertThat(frozen.exit()).as(frozen.err()).isZero();
        assertThat(frozen.out()).startsWith("domain default: frozen");
        assertThat(deployment.command("top", "--once").out())
                .contains(
                        "domain default: frozen by ",
                        " (not authenticated) since ",
                        "reason: tested",
                        "lending frozen");
        assertThat(deployment.command("doctor").out())
                .contains("warn commands: domain default: frozen by ", "until 'lendstream thaw'; reason: tested");
        assertThat(deployment.command("thaw").exit()).isZero();
        Printed back = deployment.command("reclaim-all");
        assertThat(back.exit()).as(back.err()).isZero();
        assertThat(back.out()).startsWith("domain default: all loans are reclaimed");
        Printed nowhere = deployment.command("freeze", "--domain", "nowhere");
        assertThat(nowhere.exit()).isEqualTo(1);
        assertThat(nowhere.err())
                .startsWith("--domain is 'nowhere', but no node belongs to it. Domains with nodes: [default].");
        Printed healthy = deployment.command(
                "reset", deployment.read(TopicCatalogue.LEASES).get(0).gpuId().value());
        assertThat(healthy.exit()).isEqualTo(1);
        assertThat(healthy.err()).contains("is not quarantined");
    }

    private void examines(Deployment deployment, RecordWriter cluster) throws Exception {
        tell(cluster);

        Printed well = deployment.command("doctor");

        assertThat(well.exit()).as(well.out() + well.err()).isZero();
        List<String> statuses = well.out()
                .lines()
                .map(line -> line.substring(0, line.indexOf(':')))
                .toList();
        assertThat(statuses)
                .filteredOn(status -> !status.startsWith("ok   "))
                .containsExactly("warn replication", "warn commands", "warn forecaster");
        assertThat(String.join(" ", statuses).replaceAll("(ok  |warn) ", ""))
                .isEqualTo(
                        "java registry schemas broker clock topics replication scheduler domains dead-letters commands"
                                + " trust agents nodes inventory users demand forecaster actuators scopes actuator clocks gpus"
                                + " foreign intruders moved kinds queues");
        Path config = Files.writeString(directory.resolve("actuator.properties"), """
                actuator.driver=command
                actuator.command=/there/is/none
                """);
        Printed ill = deployment.command("doctor", "--config", config.toString(), "--json");
        assertThat(ill.exit()).isEqualTo(1);
        assertThat(json(ill)).anySatisfy(finding -> {
            assertThat(finding.get("name").asText()).isEqualTo("driver");
            assertThat(finding.get("level").asText()).isEqualTo("fail");
            assertThat(finding.get("found").asText()).contains("/there/is/none");
        });
    }

    private Deployment.Running start(Deployment deployment, ServiceKind kind, String... more) {
        List<String> arguments = deployment.with(more);
        arguments.addAll(List.of("--set", "health.port=0"));
        return deployment
                .start(kind, directory.resolve(kind.command() + ".log"), arguments)
                .ready();
    }

    private void awaitLease(Deployment deployment, RecordWriter cluster, Predicate<Lease> wanted) {
        await().atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofSeconds(2))
                .untilAsserted(() -> {
                    tell(cluster);
                    assertThat(deployment.read(TopicCatalogue.LEASES)).anyMatch(wanted);
                });
    }

    private Decision awaitDecision(Deployment deployment, RecordWriter cluster, Predicate<Decision> wanted) {
        return await().atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofSeconds(2))
                .until(
                        () -> {
                            tell(cluster);
                            return deployment.read(TopicCatalogue.DECISIONS).stream()
                                    .filter(wanted)
                                    .findFirst();
                        },
                        Optional::isPresent)
                .orElseThrow();
    }

    private static boolean isForDemand(Decision decision) {
        return decision.action() instanceof Action.Reclaim
                && decision.reason().code().equals("demand");
    }

    private static Decision last(List<Decision> decisions) {
        return decisions.get(decisions.size() - 1);
    }

    private static JsonNode json(Printed printed) throws IOException {
        return new JsonMapper().readTree(printed.out());
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    /** What was offered in the last window, so many requests a second. */
    private void tell(RecordWriter cluster) {
        Instant end = now();
        long requests = Math.round(perSecond * WINDOW.toSeconds());
        cluster.write(
                TopicCatalogue.REQUEST_RATES,
                CHAT.value(),
                new RequestRate(
                        CHAT,
                        DOMAIN,
                        "gateway",
                        "boot-1",
                        ++sequence,
                        end.minus(WINDOW),
                        end,
                        RequestRate.Requests.answered(requests),
                        RequestRate.Latency.NOT_MEASURED,
                        List.of(),
                        List.of()));
        cluster.flush();
    }

    private static InferenceService chat() {
        return new InferenceService(
                CHAT,
                DOMAIN,
                now(),
                List.of("chat"),
                Duration.ofMillis(400),
                10,
                Optional.empty(),
                1,
                Duration.ofSeconds(2));
    }

    private static TrainingJob job(JobId name) {
        return new TrainingJob(
                name,
                DOMAIN,
                now(),
                "cifar10",
                new TrainingJob.Scaling(1, 1, 1, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(10, 1000, 1, 100, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(Duration.ofSeconds(2), Duration.ofSeconds(1))),
                "simulated",
                Optional.empty());
    }
}
