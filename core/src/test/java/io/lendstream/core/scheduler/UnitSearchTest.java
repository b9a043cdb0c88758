package io.lendstream.core.scheduler;

import static io.lendstream.core.scheduler.UnitSearch.Source.COMING;
import static io.lendstream.core.scheduler.UnitSearch.Source.FREE;
import static io.lendstream.core.scheduler.UnitSearch.Source.LOAN;
import static io.lendstream.core.scheduler.UnitSearch.Source.SLEEPING;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.StartTimes;
import io.lendstream.core.event.TopologyLabels;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.state.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The cheapest units for a replica: free ones on the tightest node, then others by what they cost. */
class UnitSearchTest {
    private static final KindId A100 = new KindId("A100-SXM4-80GB");
    private static final KindId L4 = new KindId("L4-24GB");

    private final UnitSearch search =
            new UnitSearch(TopologyLabels.NONE, node -> Optional.empty(), Set.of(new NodeId("warm")));

    private static ReplicaShape shape(int gpus, int nodes) {
        return ReplicaShape.of("s", gpus, nodes, 10, Duration.ofSeconds(30));
    }

    private static GpuState unit(String node, int index, KindId kind) {
        return GpuState.free(new GpuId(node + index), new NodeId(node), Pool.INFERENCE, Instant.EPOCH, 1)
                .of(Optional.of(kind));
    }

    private void add(String node, int from, int to, UnitSearch.Source source) {
        for (int i = from; i < to; i++) {
            search.add(unit(node, i, A100), source);
        }
    }

    private Optional<List<String>> found(ReplicaShape shape, UnitSearch.Source most) {
        return search.find(shape, most, any -> true)
                .map(set -> set.gpus().stream().map(GpuId::value).toList());
    }

    @Test
    void takesTheTightestNode() {
        add("wide", 0, 8, FREE);
        add("tight", 0, 3, FREE);

        assertThat(found(shape(2, 1), FREE)).contains(List.of("tight0", "tight1"));
        assertThat(found(shape(4, 1), FREE)).contains(List.of("wide0", "wide1", "wide2", "wide3"));
        assertThat(found(shape(9, 1), FREE)).isEmpty();
    }

    @Test
    void takesTheNodeWhereAReplicaStartsFromCache() {
        add("tight", 0, 2, FREE);
        add("warm", 0, 4, FREE);
        ReplicaShape cached = shape(2, 1)
                .starting(
                        new StartTimes(Duration.ofSeconds(30), Optional.of(Duration.ofSeconds(10)), Optional.empty()));

        assertThat(found(shape(2, 1), FREE)).contains(List.of("tight0", "tight1"));
        assertThat(found(cached, FREE)).contains(List.of("warm0", "warm1"));
    }

    @Test
    void aStartFromCacheIsWorthNoLoan() {
        add("cold", 0, 2, FREE);
        search.add(unit("warm", 0, A100), FREE);
        search.add(unit("warm", 1, A100), LOAN, 1);
        ReplicaShape cached = shape(2, 1)
                .starting(
                        new StartTimes(Duration.ofSeconds(30), Optional.of(Duration.ofSeconds(10)), Optional.empty()));

        assertThat(found(cached, LOAN)).contains(List.of("cold0", "cold1"));
    }

    @Test
    void takesSleepingUnitsBeforeLoans() {
        add("a", 0, 1, FREE);
        add("a", 1, 2, SLEEPING);
        add("b", 0, 1, FREE);
        search.add(unit("b", 1, A100), LOAN, 1);

        assertThat(found(shape(2, 1), FREE)).isEmpty();
        assertThat(found(shape(2, 1), COMING)).isEmpty();
        assertThat(found(shape(2, 1), SLEEPING)).contains(List.of("a0", "a1"));
        assertThat(found(shape(2, 1), LOAN)).contains(List.of("a0", "a1"));
    }

    @Test
    void takesTheNodeWithTheCheapestLoans() {
        search.add(unit("a", 0, A100), LOAN, 1);
        search.add(unit("a", 1, A100), LOAN, 6);
        search.add(unit("b", 0, A100), LOAN, 2);
        search.add(unit("b", 1, A100), LOAN, 3);
        search.add(unit("b", 2, A100), LOAN, 9);

        assertThat(found(shape(2, 1), LOAN)).contains(List.of("b0", "b1"));
    }

    @Test
    void aReplicaOfSeveralNodesHasAsManyUnitsOnEach() {
        add("a", 0, 3, FREE);
        add("b", 0, 1, FREE);
        add("c", 0, 2, FREE);

        assertThat(found(shape(2, 2), FREE)).contains(List.of("c0", "c1", "a0", "a1"));
        assertThat(found(shape(2, 3), FREE)).isEmpty();
    }

    @Test
    void aReplicaHasUnitsOfOneKindThePreferredFirst() {
        search.add(unit("a", 0, A100), FREE);
        search.add(unit("a", 1, L4), FREE);
        search.add(unit("b", 0, L4), FREE);
        search.add(unit("b", 1, L4), FREE);
        ReplicaShape any = shape(2, 1);
        ReplicaShape onA100First = any.onKinds(List.of(KindCapacity.of(A100, 10), KindCapacity.of(L4, 5)));

        assertThat(found(any, FREE)).contains(List.of("b0", "b1"));
        search.add(unit("c", 0, A100), FREE);
        search.add(unit("c", 1, A100), FREE);
        assertThat(found(onA100First, FREE)).contains(List.of("c0", "c1"));
        assertThat(found(any.withMemory(40L << 30), FREE)).contains(List.of("c0", "c1"));
    }

    @Test
    void takenUnitsAreNotFoundAgain() {
        add("a", 0, 3, FREE);
        search.take(search.find(shape(2, 1), FREE, any -> true).orElseThrow());

        assertThat(found(shape(2, 1), FREE)).isEmpty();
        assertThat(found(shape(1, 1), FREE)).contains(List.of("a2"));
    }

    @Test
    void aSetIsFreeOnlyIfAllItsUnitsAre() {
        add("a", 0, 1, FREE);
        add("a", 1, 2, COMING);

        assertThat(search.find(shape(2, 1), COMING, any -> true).orElseThrow().isFree())
                .isFalse();
        assertThat(search.find(shape(1, 1), COMING, any -> true).orElseThrow().isFree())
                .isTrue();
    }
}
