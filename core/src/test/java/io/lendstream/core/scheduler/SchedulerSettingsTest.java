package io.lendstream.core.scheduler;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings that cannot be, those that just can, and how a log carries them. */
class SchedulerSettingsTest {
    private static SchedulerSettings with(String key, Object value) {
        return SchedulerSettings.of(Map.of(key, value.toString()));
    }

    private static ChangeLimits limits(double share, int loans, int transfers, Duration hold) {
        return new ChangeLimits(share, loans, transfers, hold, QuietWindows.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"notice", "bind-deadline", "node-stale-after", "repartition-every"})
    void aTimeThatIsWaitedForIsASecondAtLeast(String key) {
        assertThatCode(() -> with(key, ofSeconds(1))).doesNotThrowAnyException();
        assertThatThrownBy(() -> with(key, ofMillis(999)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("scheduler.%s must be at least 1s, but was PT0.999S", key);
    }

    @Test
    void aLeaseIsFourTimesTheNoticeAtLeast() {
        assertThat(with("lease", ofMinutes(3)).lease()).isEqualTo(ofMinutes(3));
        assertThatThrownBy(() -> with("lease", ofSeconds(179)))
                .hasMessage(
                        "scheduler.lease is 179s, but must be at least 4 x scheduler.notice, which is 45s, so that a loan can"
                                + " be renewed or taken back in time. Make the lease longer or the notice shorter.");
    }

    @Test
    void plansMayBeMadeAtTheMultiplesOfThePeriodButNotBeforeThem() {
        assertThat(with("plan-phase", Duration.ZERO)).isEqualTo(SchedulerSettings.DEFAULTS);
        assertThatThrownBy(() -> with("plan-phase", ofMillis(-1)))
                .hasMessage("plan-phase must not be negative, but was PT-0.001S");
    }

    @Test
    void everySettingIsCarriedByTheLogOfADomain() {
        Map<String, String> written = new HashMap<>(SchedulerSettings.DEFAULTS.toMap());
        assertThat(written)
                .isEqualTo(Map.ofEntries(
                        Map.entry("lending", "true"),
                        Map.entry("afe", "true"),
                        Map.entry("notice", "PT45S"),
                        Map.entry("bind-deadline", "PT1M"),
                        Map.entry("lease", "PT10M"),
                        Map.entry("node-stale-after", "PT1M"),
                        Map.entry("max-share-lent", "1.0"),
                        Map.entry("max-loans-per-minute", "1000"),
                        Map.entry("max-transfers", "1000"),
                        Map.entry("min-hold", "PT0S"),
                        Map.entry("quiet-windows", ""),
                        Map.entry("repartition", "false"),
                        Map.entry("repartition-every", "PT5M")));

        Map<String, String> other = Map.ofEntries(
                Map.entry("lending", "false"),
                Map.entry("afe", "false"),
                Map.entry("notice", "PT10S"),
                Map.entry("bind-deadline", "PT20S"),
                Map.entry("lease", "PT50S"),
                Map.entry("node-stale-after", "PT30S"),
                Map.entry("max-share-lent", "0.25"),
                Map.entry("max-loans-per-minute", "2"),
                Map.entry("max-transfers", "3"),
                Map.entry("min-hold", "PT4S"),
                Map.entry("quiet-windows", "08:00-10:00"),
                Map.entry("repartition", "true"),
                Map.entry("repartition-every", "PT6M"),
                Map.entry("plan-phase", "PT7S"),
                Map.entry("kinds", "true"),
                Map.entry("kind-aliases", "A=B"),
                Map.entry("topology.nvlink-domain", "nvidia.com/gpu.clique"),
                Map.entry("topology.rack", "topology.k8s.io/rack"),
                Map.entry("heed-users", "true"),
                Map.entry("foreign-gone-after", "PT3M"),
                Map.entry("quarantine-evidence", "PT8M"),
                Map.entry("heed-intruders", "true"),
                Map.entry("remember-users", "true"),
                Map.entry("strict-users", "true"),
                Map.entry("slo-extra", "0.75"),
                Map.entry("slo-withhold", "PT9M"),
                Map.entry("learn", "true"),
                Map.entry("remember-profiles", "PT240H"),
                Map.entry("sum-short-windows", "true"),
                Map.entry("waiting-first", "true"));
        assertThat(SchedulerSettings.of(other).toMap()).isEqualTo(other);
        assertThat(SchedulerSettings.keys()).containsAll(other.keySet());
    }

    @Test
    void profilesAreRememberedForAYearAtMost() {
        assertThat(with("remember-profiles", Duration.ofDays(366))
                        .measurements()
                        .rememberProfiles())
                .isEqualTo(Duration.ofDays(366));
        assertThatThrownBy(() -> with("remember-profiles", Duration.ofDays(366).plusMillis(1)))
                .hasMessage(
                        "scheduler.remember-profiles must lie between 0s, which switches it off, and 366d, but was PT8784H0.001S");
        assertThatThrownBy(() -> with("remember-profiles", ofMillis(-1)))
                .hasMessageContaining("scheduler.remember-profiles must lie between 0s");
    }

    @ParameterizedTest
    @CsvSource({
        "lending, false",
        "afe, false",
        "repartition, true",
        "plan-phase, PT15S",
        "kinds, true",
        "learn, true",
        "max-transfers, 7"
    })
    void oneSettingIsChangedWithoutTheOthers(String key, String value) {
        SchedulerSettings defaults = SchedulerSettings.DEFAULTS;
        SchedulerSettings changed = switch (key) {
            case "lending" -> defaults.withLending(false);
            case "afe" -> defaults.withAfe(false);
            case "repartition" -> defaults.withRepartition(true);
            case "kinds" -> defaults.withModel(ClusterModel.KINDS);
            case "learn" -> defaults.withLearn(true);
            case "plan-phase" -> defaults.withPlanPhase(ofSeconds(15));
            default -> defaults.withChangeLimits(limits(1, 1000, 7, Duration.ZERO));
        };

        Map<String, String> expected = new HashMap<>(defaults.toMap());
        expected.put(key, value);
        assertThat(changed.toMap()).isEqualTo(expected);
    }

    @Test
    void guardsMayForbidEveryLoanButNotEveryTransfer() {
        assertThat(limits(0, 0, 1, Duration.ZERO).maxLoansPerMinute()).isZero();
        assertThatThrownBy(() -> limits(0, 0, 0, Duration.ZERO))
                .hasMessage(
                        "scheduler.max-transfers must be at least 1, but was 0. Set scheduler.lending=false to lend nothing.");
    }

    @ParameterizedTest
    @ValueSource(doubles = {-0.001, 1.001, Double.NaN})
    void aShareThatIsNoneIsNamed(double share) {
        assertThatThrownBy(() -> limits(share, 0, 1, Duration.ZERO))
                .hasMessage("scheduler.max-share-lent must lie between 0 and 1, but was " + share);
    }

    @Test
    void guardsThatAreNegativeAreNamed() {
        assertThatThrownBy(() -> limits(1, -1, 1, Duration.ZERO))
                .hasMessage("scheduler.max-loans-per-minute must be at least 0, but was -1");
        assertThatThrownBy(() -> limits(1, 1, 1, ofMillis(-1)))
                .hasMessage("scheduler.min-hold must be at least 0s, but was PT-0.001S");
    }
}
