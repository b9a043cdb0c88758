package io.lendstream.benchmarks;

import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Settings;
import io.lendstream.stack.Installation;
import io.lendstream.stack.Jvm;
import io.lendstream.stack.Ports;
import io.lendstream.stack.Readiness;
import io.lendstream.stack.RunningChild;
import io.lendstream.stack.ServiceKind;
import io.lendstream.stack.SimulatedCluster;
import io.lendstream.stack.Stack;
import io.lendstream.stack.StackSettings;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/** The processes of a load: a broker with registry and topics, and a scheduler. */
final class SchedulerStack implements AutoCloseable {
    /** A topic that only the benchmark reads. */
    static final String BARE = "bench-bare";

    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    /** Optimised as production brokers are, with the whole heap from the start as in Kafka's own script. */
    private static final Jvm BROKER = Jvm.thorough(384).withWholeHeap();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Stack stack;
    private final KafkaSettings kafka;
    private final RunningChild scheduler;

    SchedulerStack(String guarantee, int commitMillis, int heapMegabytes) {
        this.stack = Stack.start(StackSettings.defaults().withBroker(BROKER), Installation.find(), line -> {});
        this.kafka = kafka(0);
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, TOPICS).create(1, (short) 1);
            admin.createTopics(List.of(new NewTopic(BARE, 1, (short) 1))).all().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), TOPICS).register();
        this.scheduler = startScheduler(guarantee, commitMillis, heapMegabytes);
    }

    /** Settings of a Kafka client. */
    KafkaSettings kafka(int lingerMillis) {
        return KafkaSettings.of(
                "bench",
                Settings.of(
                        CommonKeys.ALL,
                        "kafka.bootstrap.servers=" + stack.bootstrapServers(),
                        "schema.registry.url=" + stack.confluentUrl(),
                        "kafka.producer.linger.ms=" + lingerMillis));
    }

    private RunningChild startScheduler(String guarantee, int commitMillis, int heapMegabytes) {
        int port = Ports.free();
        List<String> arguments = new ArrayList<>();
        SimulatedCluster.SCHEDULER.forEach(setting -> arguments.addAll(List.of("--set", setting)));
        arguments.addAll(List.of(
                "--bootstrap-server",
                stack.bootstrapServers(),
                "--registry",
                stack.confluentUrl().toString(),
                "--set",
                "health.port=" + port,
                "--set",
                "kafka.processing.guarantee=" + guarantee,
                "--set",
                "kafka.commit.interval.ms=" + commitMillis,
                "--set",
                "scheduler.policy=lendstream:plan-every=10s:protect-scale=0",
                "--set",
                "scheduler.max-loans-per-minute=1000000",
                "--set",
                "scheduler.max-transfers=1000000",
                "--set",
                "scheduler.min-hold=1s",
                "--set",
                "kafka.state.dir=" + stack.dataDirectory().resolve("state")));
        RunningChild child = stack.start(ServiceKind.SCHEDULER
                .child(stack.installation())
                .withJvm(Jvm.thorough(heapMegabytes).withWholeHeap())
                .withArguments(arguments));
        stack.awaitReady(child, Readiness.http(URI.create("http://127.0.0.1:" + port + "/health/ready")), PATIENCE);
        return child;
    }

    /** The number of input records that the scheduler has not committed. */
    long behind() {
        try (Admin admin = Admin.create(kafka.admin())) {
            Map<TopicPartition, Long> taken = new HashMap<>();
            admin.listConsumerGroupOffsets(TOPICS.prefix() + "scheduler")
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .forEach((partition, offset) -> taken.put(partition, offset.offset()));
            Map<TopicPartition, OffsetSpec> newest = new HashMap<>();
            taken.keySet().forEach(partition -> newest.put(partition, OffsetSpec.latest()));
            return admin.listOffsets(newest).all().get().entrySet().stream()
                    .mapToLong(end -> end.getValue().offset() - taken.getOrDefault(end.getKey(), 0L))
                    .sum();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Processor seconds of a process of the control plane. */
    Map<String, Double> processorSeconds() {
        Map<String, Double> seconds = new TreeMap<>();
        for (RunningChild child : stack.children()) {
            ProcessHandle.of(child.pid())
                    .flatMap(process -> process.info().totalCpuDuration())
                    .ifPresent(used -> seconds.put(child.name(), used.toMillis() / 1000.0));
        }
        return seconds;
    }

    /** The process id of the scheduler. */
    long schedulerPid() {
        return scheduler.pid();
    }

    @Override
    public void close() {
        stack.close();
    }
}
