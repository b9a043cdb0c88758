package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.SourceRate;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.time.Duration;
import java.util.function.Predicate;

/**
 * The steps of docs/adoption.md in an {@link AdoptedCluster}, up to a loan and its reclaim. At each step a test may do
 * something to the cluster, after which everything goes on as if it had not.
 */
final class AdoptionSteps implements AutoCloseable {
    /** Found at a look every 10 s, watched for half a minute, reported again. */
    static final Duration FOUND = Duration.ofMinutes(2);

    /** Two of the shortest windows that give a rate. */
    private static final Duration RATES = SourceRate.SHORTEST_RATE.multipliedBy(2);

    private static final String DECLARED = """
            apiVersion: lendstream.io/v1
            kind: Service
            metadata:
              name: chat
              domain: lab
            spec:
              slo: 4s
              replicaCapacityPerSecond: 1.25
              warmUp: 5s
              floor: 2
              adopt:
                environment.ROLE: it-replica
            ---
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: bert
              domain: lab
            spec:
              application: bert
              gpus: 2
              adopt:
                environment.ROLE: it-*-job
            """;

    /** Of a job with a GPU, by its name. The scheduler knows a job that ended for a day, so a name is used once. */
    private static final String NEW = """
            apiVersion: lendstream.io/v1
            kind: TrainingJob
            metadata:
              name: %s
              domain: lab
            spec:
              application: llama
              gpus: 1
            """;

    private final AdoptedCluster cluster;
    private final HostedCluster hosted;
    private final Disturbance disturbance;
    private final SharedMachine lab;
    private final Follower<Decision> decisions;
    private final Follower<ActuationReport> reports;
    private final SteadyGateway gateway;

    /** Something that a test does to a cluster at a step. */
    interface Disturbance {
        void at(AdoptionStep step) throws Exception;
    }

    AdoptionSteps(AdoptedCluster cluster, Disturbance disturbance) {
        this.cluster = cluster;
        this.hosted = cluster.hosted();
        this.disturbance = disturbance;
        this.lab = hosted.lab();
        this.decisions = new Follower<>(hosted.deployment(), TopicCatalogue.DECISIONS);
        this.reports = new Follower<>(hosted.deployment(), TopicCatalogue.ACTUATION_REPORTS);
        this.gateway =
                new SteadyGateway(hosted.deployment().kafka(), HostedCluster.DOMAIN, RATES, new ServiceId("chat"), 5);
    }

    /** All steps, one after the other. */
    void takeAll() throws Exception {
        observe();
        adopt();
        advise();
        trustOne();
        lend();
        reclaim();
    }

    private void disturb(AdoptionStep step) throws Exception {
        disturbance.at(step);
        cluster.checkUntouched(step);
    }

    private void observe() throws Exception {
        lab.awaitOwners(Pool.TRAINING, FOUND, "free", "free", "free");
        lab.awaitOwners(Pool.INFERENCE, FOUND, "free", "free", "free", "free");
        cluster.startStrangers();
        areForeign();
        cluster.checkTop(false);
        disturb(AdoptionStep.OBSERVED);
        areForeign();
        cluster.checkTop(false);
    }

    private void areForeign() {
        lab.awaitOwners(Pool.TRAINING, FOUND, "foreign", "foreign", "foreign");
        lab.awaitOwners(Pool.INFERENCE, FOUND, "foreign", "foreign", "foreign", "free");
    }

    /** In the advisory mode of a first start, so that nothing else can have moved. */
    private void adopt() throws Exception {
        hosted.apply("lab.yaml", DECLARED);
        reports.awaitFirst(
                FOUND,
                report -> report.outcome() == Outcome.FOUND && !report.found().isEmpty());
        disturb(AdoptionStep.CLAIMED);
        awaitDecision(decision -> decision.action().asAdopt().isPresent()
                && decision.action().target().equals("bert"));
        disturb(AdoptionStep.DECIDED);
        areOwners();
        disturb(AdoptionStep.ADOPTED);
        areOwners();
        cluster.checkTop(true);
        assertThat(hosted.succeeds("adopt", "--dry-run", "--domain", "lab").out())
                .contains("stays foreign:", "no selector matches it");
        assertThat(hosted.succeeds("trust", "--domain", "lab").out()).contains("advise");
    }

    private void awaitDecision(Predicate<Decision> wanted) {
        decisions.awaitFirst(FOUND, decision -> !decision.advisory() && wanted.test(decision));
    }

    /** Each process that is declared owns its GPUs, and the two others are foreign. */
    private void areOwners() {
        lab.awaitOwners(Pool.TRAINING, FOUND, "foreign", "training", "training");
        lab.awaitOwners(Pool.INFERENCE, FOUND, "foreign", "free", "serving", "serving");
    }

    /** The advice is about the cluster as it is: a new job would get the one unused GPU. */
    private void advise() throws Exception {
        gateway.start();
        hosted.apply("new.yaml", NEW.formatted("llama-try"));
        Decision loan = decisions.awaitFirst(
                FOUND,
                decision -> decision.advisory() && decision.action().asLend().isPresent());
        assertThat(loan.action().target()).isEqualTo("llama-try");
        assertThat(loan.action().gpus()).hasSize(1).noneMatch(cluster::isUsedByStrangers);
        await().atMost(FOUND)
                .pollInterval(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(
                                hosted.succeeds("explain", "advice").out())
                        .contains(
                                " of advice stand", "llama-try", "estimate for ", " GPUs of inference would be lent"));
        disturb(AdoptionStep.ADVISED);
        hosted.succeeds("delete", "job", "llama-try");
        areOwners();
    }

    /** To trust one service moves nothing that runs; a GPU on which none of its replicas ran is not lent. */
    private void trustOne() throws Exception {
        hosted.succeeds("trust", "one", "--service", "chat", "--anyway", "--reason", "it is a test", "--domain", "lab");
        disturb(AdoptionStep.TRUSTED);
        staysFree(Duration.ofSeconds(12));
        cluster.checkTop(true);
        assertThat(hosted.succeeds("trust", "--domain", "lab").out()).contains("one");
    }

    /** For some time nothing changes its owner. */
    private void staysFree(Duration time) {
        await().during(time).atMost(Deployment.PATIENCE).untilAsserted(() -> {
            assertThat(lab.owners(Pool.TRAINING)).containsExactlyInAnyOrder("foreign", "training", "training");
            assertThat(lab.owners(Pool.INFERENCE)).containsExactlyInAnyOrder("foreign", "free", "serving", "serving");
        });
    }

    /** A quarter of three inference GPUs is none. With full trust the idle one is lent to the new job. */
    private void lend() throws Exception {
        hosted.succeeds("trust", "share", "--anyway", "--reason", "it is a test", "--domain", "lab");
        hosted.apply("new.yaml", NEW.formatted("llama"));
        staysFree(Duration.ofSeconds(8));
        hosted.succeeds("trust", "all", "--anyway", "--reason", "it is a test", "--domain", "lab");
        awaitDecision(decision -> decision.action().asLend().isPresent());
        disturb(AdoptionStep.LENDING);
        lab.awaitOwners(Pool.INFERENCE, Deployment.PATIENCE, "foreign", "lent", "serving", "serving");
        await().atMost(Deployment.PATIENCE).until(() -> cluster.workers("llama") == 1);
        cluster.checkTop(true);
    }

    /** The loan is taken back when the service needs a third replica. */
    private void reclaim() throws Exception {
        gateway.offer(15);
        awaitDecision(Decision::isReclaim);
        disturb(AdoptionStep.RECLAIMING);
        lab.awaitOwners(Pool.INFERENCE, Deployment.PATIENCE, "foreign", "serving", "serving", "serving");
        lab.awaitOwners(Pool.TRAINING, Deployment.PATIENCE, "foreign", "training", "training");
        assertThat(cluster.workers("llama")).isZero();
        cluster.checkUntouched(AdoptionStep.RECLAIMING);
        cluster.checkTop(true);
    }

    @Override
    public void close() {
        gateway.close();
        decisions.close();
        reports.close();
    }
}
