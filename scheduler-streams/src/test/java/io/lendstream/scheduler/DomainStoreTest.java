package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.JobPhase;
import io.lendstream.core.event.KindQuota;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.Tick;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.MeasurementRules;
import io.lendstream.core.scheduler.Scheduler;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.scheduler.Step;
import io.lendstream.core.state.ClusterState;
import io.lendstream.core.state.ShortWindows;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is encoded is not written yet: a step of which some part cannot be encoded leaves the store as it was. */
class DomainStoreTest {
    private static final SchedulerMetrics METRICS = new SchedulerMetrics(new SimpleMeterRegistry());

    @TempDir
    File directory;

    @Test
    void nothingIsWrittenOrRememberedUntilItIsCommitted() {
        KeyValueStore<String, byte[]> entries = entries();
        DomainStore store = new DomainStore(entries, METRICS);
        Scenario before = Scenario.of("deepboot");
        Scenario after = Scenario.of("deepboot").node("infer", Pool.INFERENCE, 2);
        DomainEvent last = after.log().get(1);
        Step step = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS).step(before.state(), last);

        DomainStore.Changes tried = store.prepare(step.state(), Optional.empty(), step.changed(), false);
        assertThat(isEmpty(entries)).isTrue();

        DomainStore.Changes again = store.prepare(step.state(), Optional.empty(), step.changed(), false);
        assertThat(again.entries())
                .as("as if it had never been tried")
                .usingRecursiveComparison()
                .isEqualTo(tried.entries());
        store.commit(again);
        assertThat(new DomainStore(entries, METRICS)
                        .load(Scenario.START)
                        .get(Scenario.DOMAIN)
                        .state())
                .isEqualTo(after.state());
    }

    @Test
    void queuesAreKept() {
        Scenario story = Scenario.of("deepboot");
        KeyValueStore<String, byte[]> entries = entries();
        DomainStore written = new DomainStore(entries, METRICS);
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        story.node("infer", Pool.INFERENCE, 2)
                .queue("team-a", Optional.of("all"), KindQuota.of(Optional.empty(), 1))
                .service("chat", 0, "team-a")
                .rate("chat", 25);

        for (DomainEvent event : story.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            written.commit(written.prepare(state, Optional.empty(), step.changed(), false));
        }

        ClusterState loaded = new DomainStore(entries, METRICS)
                .load(Scenario.START)
                .get(Scenario.DOMAIN)
                .state();
        assertThat(loaded.queues()).isEqualTo(state.queues());
        assertThat(loaded.queues().require(new QueueId("team-a")).refusedReplicas())
                .isEqualTo(2);
        assertThat(loaded).isEqualTo(story.state());
    }

    @Test
    void whatIsDeletedLeavesNoEntry() {
        KeyValueStore<String, byte[]> entries = entries();
        DomainStore store = new DomainStore(entries, METRICS);
        Scenario story =
                Scenario.of("deepboot").service("chat", 0).rate("chat", 5).queue("team", 1);
        story.tell(story.serviceRecord("chat", 0).removedAt(story.now()));
        story.tell(story.state().queues().require(new QueueId("team")).spec().removedAt(story.now()));
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : story.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            store.commit(store.prepare(state, Optional.empty(), step.changed(), false));
        }

        ClusterState loaded = new DomainStore(entries, METRICS)
                .load(Scenario.START)
                .get(Scenario.DOMAIN)
                .state();
        assertThat(loaded).isEqualTo(story.state());
        assertThat(loaded.services().isEmpty()).isTrue();
        try (KeyValueIterator<String, byte[]> all = entries.all()) {
            assertThat(all).toIterable().noneMatch(entry -> entry.key.contains("chat") || entry.key.contains("team"));
        }
    }

    @Test
    void descriptionsOfActuatorsAreKept() {
        Scenario story = Scenario.of("deepboot");
        KeyValueStore<String, byte[]> entries = entries();
        DomainStore written = new DomainStore(entries, METRICS);
        Scheduler scheduler = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        story.node("infer", Pool.INFERENCE, 2)
                .actuator("one", Abilities.USUAL.withGranularity(Granularity.NODE), "infer")
                .actuator("two", Abilities.USUAL);

        for (DomainEvent event : story.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            written.commit(written.prepare(state, Optional.empty(), step.changed(), false));
        }

        ClusterState loaded = new DomainStore(entries, METRICS)
                .load(Scenario.START)
                .get(Scenario.DOMAIN)
                .state();
        assertThat(loaded.actuators()).isEqualTo(state.actuators());
        assertThat(loaded.entities().scopes().isDisputed(new NodeId("infer"))).isTrue();
        assertThat(loaded).isEqualTo(story.state());
    }

    @Test
    void rememberedApplicationsAndShortWindowsAreKept() {
        Scheduler scheduler = new Scheduler(
                Policies.parse("deepboot"),
                SchedulerSettings.DEFAULTS.withMeasurements(new MeasurementRules(true, Duration.ofDays(9), true)));
        Scenario story = new Scenario(scheduler).service("chat", 0).job("a", 1).job("b", 1);
        story.progress("a", JobPhase.CANCELLED)
                .withoutTicks(Duration.ofHours(25))
                .tell(new Tick(Scenario.DOMAIN, story.now()));
        RequestRate rate = story.rateRecord("chat", 2, 1);
        story.tell(new RequestRate(
                rate.service(),
                rate.domain(),
                rate.source(),
                rate.bootId(),
                rate.sequence(),
                rate.windowEnd().minusSeconds(1),
                rate.windowEnd(),
                rate.requests(),
                rate.latency(),
                List.of(),
                List.of()));
        KeyValueStore<String, byte[]> entries = entries();

        ClusterState loaded = saved(scheduler, story, entries);

        assertThat(loaded).isEqualTo(story.state());
        assertThat(loaded.entities().applications().size()).isEqualTo(1);
        assertThat(loaded.services()
                        .require(new ServiceId("chat"))
                        .sources()
                        .get("gateway")
                        .unrated())
                .contains(new ShortWindows(30, Duration.ofSeconds(1)));

        story.withoutTicks(Duration.ofDays(10)).tell(new Tick(Scenario.DOMAIN, story.now()));
        assertThat(saved(scheduler, story, entries)).isEqualTo(story.state());
        try (KeyValueIterator<String, byte[]> all = entries.all()) {
            assertThat(all).toIterable().noneMatch(entry -> entry.key.contains("APPLICATION"));
        }
    }

    /** The state after a story whose steps are written, as it is loaded. */
    private static ClusterState saved(Scheduler scheduler, Scenario story, KeyValueStore<String, byte[]> entries) {
        DomainStore store = new DomainStore(entries, METRICS);
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        for (DomainEvent event : story.log()) {
            Step step = scheduler.step(state, event);
            state = step.state();
            store.commit(store.prepare(state, Optional.empty(), step.changed(), false));
        }
        return new DomainStore(entries, METRICS)
                .load(Scenario.START)
                .get(Scenario.DOMAIN)
                .state();
    }

    private static boolean isEmpty(KeyValueStore<String, byte[]> entries) {
        try (KeyValueIterator<String, byte[]> all = entries.all()) {
            return !all.hasNext();
        }
    }

    private KeyValueStore<String, byte[]> entries() {
        var context = new MockProcessorContext<byte[], byte[]>(new Properties(), new TaskId(0, 0), directory);
        KeyValueStore<String, byte[]> entries = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(SchedulerTopology.DOMAINS), Serdes.String(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        entries.init(context.getStateStoreContext(), entries);
        return entries;
    }
}
