package io.lendstream.core.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.history.Violation;
import io.lendstream.core.seeds.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The promises of the cluster model in random histories with everything that the model has, judged by what really ran
 * and by the record. {@code ./dev histories} plays ten thousand.
 */
@Tag("long")
class ClusterModelTest {
    private static final long RUNS_PER_BUG = 300;
    /** Seeds that found the planted mistakes, tried first: the search from 0 takes minutes. */
    private static final long[] FINDERS = {0, 94, 8, 16, 11, 17, 97, 121, 148, 175, 774};

    @Seeds(300)
    void promisesAreKeptInMixedClusters(long seed) {
        MixedCluster cluster = new MixedCluster(seed, ClusterBug.NONE).endured();

        assertThat(cluster.broken()).as("what really ran, seed %d", seed).isEmpty();
        assertThat(cluster.violations()).as("recorded history, seed %d", seed).isEmpty();
    }

    /**
     * Histories that found faults: a report that came twice, or late; a claim beside a plan; a GPU that is cut taken
     * for a whole one; a node that goes back to inference before a job that follows another, or that cannot be lent
     * again; a user that leaves a unit which is out of service; a lender that leaves its cohort; a controller that stops
     * a replica which works in place of one that starts.
     */
    @ParameterizedTest
    @ValueSource(longs = {118, 304, 482, 542, 546, 995, 1208, 2516, 2917, 3314, 5115, 5908, 6386, 8212, 10671})
    void promisesAreKeptWhereTheyWereNot(long seed) {
        promisesAreKeptInMixedClusters(seed);
    }

    /** Without this, a scenario in which nothing happens would keep all promises. */
    @Test
    void muchHappensInMixedClusters() {
        List<MixedCluster> clusters = LongStream.range(0, 40)
                .mapToObj(seed -> new MixedCluster(seed, ClusterBug.NONE).endured())
                .toList();
        Map<String, Integer> decisions = new TreeMap<>();
        for (MixedCluster cluster : clusters) {
            cluster.decisions().forEach((kind, count) -> decisions.merge(kind, count, Integer::sum));
        }

        assertThat(decisions).containsKeys("lend", "reclaim", "renew", "resize", "serve", "idle", "hold");
        assertThat(decisions).containsKeys("because quota", "because ability", "because lost", "because timeout");
        assertThat(clusters.stream().mapToInt(MixedCluster::losses).sum()).isGreaterThan(80);
    }

    /** By what really ran; and by the record too, where a rule is for it. */
    @ParameterizedTest
    @EnumSource(value = ClusterBug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aPlantedMistakeIsFound(ClusterBug bug) {
        List<String> rules = new ArrayList<>();
        boolean isSeen = false;
        var seeds = LongStream.concat(LongStream.of(FINDERS), LongStream.range(1, RUNS_PER_BUG))
                .iterator();
        while (seeds.hasNext() && !(isSeen && rules.contains(bug.rule()))) {
            long seed = seeds.nextLong();
            MixedCluster cluster = new MixedCluster(seed, bug).endured();
            if (cluster.broken().stream().anyMatch(how -> how.startsWith(bug.promise()))) {
                isSeen = true;
                rules.add("");
                cluster.violations().stream().map(Violation::rule).forEach(rules::add);
            }
        }

        assertThat(isSeen).as("what really ran breaks %s", bug.promise()).isTrue();
        assertThat(rules).contains(bug.rule());
    }
}
