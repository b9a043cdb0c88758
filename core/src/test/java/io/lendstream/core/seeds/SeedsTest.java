package io.lendstream.core.seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class SeedsTest {
    private static final List<Long> SEEDS = new ArrayList<>();
    private static final List<Object> INSTANCES = new ArrayList<>();

    /** Tests that the tests below run. */
    static class Examples {
        @Seeds(3)
        void three(long seed) {
            SEEDS.add(seed);
            INSTANCES.add(this);
        }

        @Seeds(3)
        void threeOthers(long seed) {
            SEEDS.add(seed);
        }

        @Seeds
        void usual(long seed) {
            SEEDS.add(seed);
        }

        @Seeds(5)
        void thirdFails(long seed) {
            SEEDS.add(seed);
            assertThat(SEEDS).hasSizeLessThan(3);
        }

        @Seeds(3)
        void random(Random random) {
            SEEDS.add(random.nextLong());
        }

        @Seeds(3)
        void values(RandomValues values) {
            SEEDS.add(values.random().nextLong());
        }

        @Seeds(3)
        void noParameter() {}

        @Seeds(3)
        void twoParameters(long seed, Random random) {}

        @Seeds(-1)
        void negative(long seed) {}
    }

    private record Result(List<Long> seeds, TestExecutionResult outcome) {
        String message() {
            return outcome.getThrowable().orElseThrow().getMessage();
        }
    }

    /** Runs one of the examples, whatever this build's own properties are. */
    private static Result run(String name, Map<String, String> properties) {
        SEEDS.clear();
        INSTANCES.clear();
        Class<?>[] parameters = Arrays.stream(Examples.class.getDeclaredMethods())
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow()
                .getParameterTypes();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectMethod(Examples.class, name, parameters))
                .enableImplicitConfigurationParameters(false)
                .configurationParameters(properties)
                .build();
        LauncherConfig noListeners = LauncherConfig.builder()
                .enableLauncherSessionListenerAutoRegistration(false)
                .enableLauncherDiscoveryListenerAutoRegistration(false)
                .enableTestExecutionListenerAutoRegistration(false)
                .build();
        List<TestExecutionResult> results = new ArrayList<>();
        LauncherFactory.create(noListeners).execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest()) {
                    results.add(result);
                }
            }
        });
        assertThat(results).as("all seeds are one test").hasSize(1);
        return new Result(List.copyOf(SEEDS), results.get(0));
    }

    private static List<Long> seeds(String name, Map<String, String> properties) {
        Result result = run(name, properties);
        assertThat(result.outcome.getStatus()).isEqualTo(Status.SUCCESSFUL);
        return result.seeds;
    }

    private static List<Long> seeds(String name) {
        return seeds(name, Map.of());
    }

    @Test
    void aTestRunsForAsManySeedsAsItGivesOnOneInstance() {
        assertThat(seeds("three")).doesNotHaveDuplicates().hasSize(3);
        assertThat(new HashSet<>(INSTANCES)).hasSize(1);
        assertThat(seeds("usual")).doesNotHaveDuplicates().hasSize(1000);
    }

    @Test
    void aMethodHasTheSameSeedsInEveryBuildAndAnotherMethodHasOthers() {
        assertThat(seeds("three")).containsExactly(75764230180791L, 162676383306189L, 21093333544359L);
        assertThat(seeds("threeOthers")).doesNotContainAnyElementsOf(seeds("three"));
    }

    @Test
    void theFirstSeedThatFailsEndsTheTestAndIsNamed() {
        Result result = run("thirdFails", Map.of());

        assertThat(result.seeds).hasSize(3);
        assertThat(result.outcome.getStatus()).isEqualTo(Status.FAILED);
        assertThat(result.message())
                .startsWith("seed %d (3 of 5) fails: ".formatted(result.seeds.get(2)))
                .contains("Expecting size of")
                .endsWith("-Dtest=%s#thirdFails -Dseeds.only=%d"
                        .formatted(Examples.class.getName(), result.seeds.get(2)));
        assertThat(result.outcome.getThrowable().orElseThrow()).hasCauseInstanceOf(AssertionError.class);
    }

    @Test
    void oneSeedRunsAlone() {
        assertThat(seeds("usual", Map.of("seeds.only", "123"))).containsExactly(123L);
    }

    @Test
    void theCountIsThatOfTestsWithoutANumberAndTheLeastOfTheOthers() {
        List<Long> three = seeds("three");

        assertThat(seeds("usual", Map.of("seeds.count", "20"))).hasSize(20);
        assertThat(seeds("three", Map.of("seeds.count", "2"))).isEqualTo(three);
        assertThat(seeds("three", Map.of("seeds.count", "20"))).hasSize(20).startsWith(three.toArray(Long[]::new));
    }

    @Test
    void aRandomAndRandomValuesStartFromTheSeed() {
        assertThat(seeds("random", Map.of("seeds.only", "123"))).containsExactly(new Random(123).nextLong());
        assertThat(seeds("values", Map.of("seeds.only", "123")))
                .containsExactly(new RandomValues(123).random().nextLong());
        assertThat(seeds("random")).doesNotHaveDuplicates();
    }

    @Test
    void aTestThatWouldNotUseItsSeedsFails() {
        assertThat(run("noParameter", Map.of()).message()).contains("has 0 parameters for a seed, but needs 1");
        assertThat(run("twoParameters", Map.of()).message()).contains("has 2 parameters for a seed, but needs 1");
        assertThat(run("negative", Map.of()).message()).contains("needs at least 1 seed, but has -1");
        assertThat(run("usual", Map.of("seeds.count", "0")).message()).contains("needs at least 1 seed, but has 0");
        assertThat(run("usual", Map.of("seeds.only", "x")).message()).contains("seeds.only");
        assertThat(SEEDS).isEmpty();
    }
}
