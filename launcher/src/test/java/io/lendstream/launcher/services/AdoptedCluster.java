package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.history.Verdict;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.services.HostedCluster.Machine;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Three hosts on which a job, two replicas, and two processes that are not declared run, which something else has started. */
final class AdoptedCluster implements AutoCloseable {
    private final HostedCluster hosted;
    private final List<Stranger> strangers = new ArrayList<>();

    /** Starts hosts and services: three GPUs on the first host, of training, and two on each other one, of inference. */
    AdoptedCluster(Deployment deployment, Path directory) throws IOException {
        writePrograms(directory.resolve("programs"));
        this.hosted = new HostedCluster(
                deployment,
                directory,
                List.of(
                        new Machine("host-a", Pool.TRAINING, 3),
                        new Machine("host-b", Pool.INFERENCE, 2),
                        new Machine("host-c", Pool.INFERENCE, 2)),
                List.of());
    }

    HostedCluster hosted() {
        return hosted;
    }

    /** A job on two GPUs of the first host, a replica on each of the others, and two processes that are not declared. */
    void startStrangers() throws IOException {
        strangers.add(Stranger.started(host(0), "it-old-job", hosted.gpus(0).subList(0, 2), "training job bert"));
        strangers.add(Stranger.started(host(1), "it-replica", hosted.gpus(1).subList(0, 1), "serving chat"));
        strangers.add(Stranger.started(host(2), "it-replica", hosted.gpus(2).subList(0, 1), "serving chat"));
        strangers.add(Stranger.unknown(host(0), hosted.gpus(0).subList(2, 3)));
        strangers.add(Stranger.unknown(host(2), hosted.gpus(2).subList(1, 2)));
    }

    private Host host(int number) {
        return hosted.hosts().get(number);
    }

    /** The job first, then the replicas, then the others. */
    List<Stranger> strangers() {
        return List.copyOf(strangers);
    }

    /** How many of the five processes have ended. */
    long ended() {
        return strangers.stream().filter(stranger -> !stranger.isAlive()).count();
    }

    /**
     * Checks what holds at a step and after it: all five processes run, no other process has their GPUs, and binding
     * decisions only took them over.
     */
    void checkUntouched(AdoptionStep step) {
        checkProcesses();
        checkDecisions(step);
    }

    private void checkProcesses() {
        assertThat(strangers).hasSize(5).allMatch(Stranger::isAlive);
        Set<Long> users = hosted.hosts().stream()
                .flatMap(host -> host.processes().stream())
                .filter(process -> Stranger.uses(process, theirs()))
                .map(ProcessHandle::pid)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(users)
                .as("the processes that have the GPUs of those which ran before")
                .containsExactlyElementsOf(strangers.stream()
                        .map(stranger -> stranger.handle().pid())
                        .sorted()
                        .toList());
    }

    /** Checks that {@code top} shows who uses the GPUs, or who owns them after all was taken over. */
    void checkTop(boolean isTakenOver) throws IOException {
        hosted.checkTop(strangers, isTakenOver);
    }

    private void checkDecisions(AdoptionStep step) {
        assertThat(hosted.deployment().read(TopicCatalogue.DECISIONS))
                .filteredOn(decision -> !decision.advisory()
                        && (step.isBeforeTrust()
                                || decision.action().gpus().stream().anyMatch(theirs()::contains)))
                .extracting(Decision::countedAs)
                .isSubsetOf("adopt");
    }

    private List<GpuId> theirs() {
        return strangers.stream().flatMap(stranger -> stranger.gpus().stream()).toList();
    }

    /** Whether a process that ran before has a GPU. */
    boolean isUsedByStrangers(GpuId gpu) {
        return theirs().contains(gpu);
    }

    /** The workers of a job that Lendstream started. */
    long workers(String job) {
        return hosted.hosts().stream()
                .flatMap(host -> host.processes().stream())
                .filter(process -> Stranger.isWorkerOf(process, job))
                .distinct()
                .count();
    }

    /**
     * Checks all that was written: the units of unknown processes stayed foreign once their users were seen, and the
     * history is without fault.
     */
    Verdict judge() {
        for (Stranger unknown : strangers.stream().filter(Stranger::isUnknown).toList()) {
            List<Owner> since = hosted.deployment().read(TopicCatalogue.LEASES).stream()
                    .filter(lease -> unknown.gpus().contains(lease.gpuId()))
                    .map(Lease::owner)
                    .dropWhile(owner -> users(owner).isEmpty())
                    .toList();
            assertThat(since).isNotEmpty().allMatch(owner -> users(owner).equals(users(since.get(0))));
        }
        return hosted.deployment().awaitCleanHistory(HostedCluster.DOMAIN);
    }

    private static List<String> users(Owner owner) {
        return owner.asForeign().map(ForeignUse::users).orElse(List.of());
    }

    private static void writePrograms(Path programs) throws IOException {
        Files.createDirectories(programs.resolve("jobs"));
        Files.createDirectories(programs.resolve("services"));
        Files.writeString(programs.resolve("jobs/bert.json"), """
                {"mode": "restart", "command": ["sleep", "600"], "directory": "/", "maxRestarts": 0, "graceSeconds": 5}
                """);
        // It needs some seconds to leave, so that something can happen meanwhile.
        Files.writeString(programs.resolve("jobs/llama.json"), """
                {
                  "mode": "restart",
                  "command": ["sh", "-c", "trap 'sleep 6; kill $!; trap - TERM; kill -TERM $$' TERM; sleep 600 & wait"],
                  "directory": "/",
                  "maxRestarts": 0,
                  "graceSeconds": 20
                }
                """);
        Files.writeString(programs.resolve("services/chat.json"), """
                {"command": ["sleep", "600"]}
                """);
    }

    @Override
    public void close() {
        strangers.forEach(stranger -> stranger.starter().destroyForcibly());
        hosted.close();
    }
}
