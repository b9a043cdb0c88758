package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.schemas.topics.Topic;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Made-up names of nodes and domains are not kept. */
class NodeDomainsTest {
    private static final TopicCatalogue TOPICS = TopicCatalogue.standard();
    private static final Topic<?> NODES = TopicCatalogue.NODES;
    private static final DomainLimits TWO_NODES = new DomainLimits(1, 2, 3, 1, 2, 2, 1);
    private static final DomainId EAST = new DomainId("east");
    private static final DomainId WEST = new DomainId("west");

    @TempDir
    private Path directory;

    private final KeyValueStore<String, String> store = Stores.keyValueStoreBuilder(
                    Stores.inMemoryKeyValueStore(SchedulerTopology.NODE_DOMAINS), Serdes.String(), Serdes.String())
            .withLoggingDisabled()
            .build();

    @BeforeEach
    void open() {
        var context =
                new MockProcessorContext<byte[], RoutedRecord>(new Properties(), new TaskId(0, 0), directory.toFile());
        store.init(context.getStateStoreContext(), store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private NodeDomains opened() {
        return new NodeDomains(TOPICS, store, TWO_NODES, 2);
    }

    private static void declare(NodeDomains domains, String node, DomainId domain) throws Poison {
        domains.declare(TOPICS.name(NODES), new NodeId(node), domain);
    }

    private List<String> noted() {
        List<String> keys = new ArrayList<>();
        try (var all = store.all()) {
            all.forEachRemaining(each -> keys.add(each.key));
        }
        return keys;
    }

    @Test
    void aNodeThatItsDomainWouldRefuseIsNotNotedAndPlacesAreFreedAlsoAfterARestart() throws Poison {
        NodeDomains domains = opened();
        declare(domains, "a", EAST);
        declare(domains, "a", EAST);
        declare(domains, "b", EAST);

        assertThatThrownBy(() -> declare(domains, "c", EAST))
                .isInstanceOf(Poison.class)
                .hasMessageContaining("node c is new, but domain east already has 2 nodes: scheduler.max-nodes is 2");
        assertThat(noted()).containsExactlyInAnyOrder("a", "b");

        NodeDomains restarted = opened();
        assertThatThrownBy(() -> declare(restarted, "c", EAST)).isInstanceOf(Poison.class);
        assertThat(restarted.remove(TOPICS.name(NODES), "a")).contains(EAST);
        declare(restarted, "c", EAST);
        declare(restarted, "c", WEST);
        declare(restarted, "d", EAST);
        assertThat(noted()).containsExactlyInAnyOrder("b", "c", "d");
    }

    @Test
    void oneDomainTooManyIsRefusedUntilAnotherIsEmpty() throws Poison {
        NodeDomains domains = opened();
        declare(domains, "a", EAST);
        declare(domains, "b", WEST);

        assertThatThrownBy(() -> declare(domains, "c", new DomainId("south")))
                .isInstanceOf(Poison.class)
                .hasMessageContaining("domain south is new, but its partition already has 2 domains");
        domains.remove(TOPICS.name(NODES), "b");
        declare(domains, "c", new DomainId("south"));

        assertThat(noted()).containsExactlyInAnyOrder("a", "c");
    }
}
