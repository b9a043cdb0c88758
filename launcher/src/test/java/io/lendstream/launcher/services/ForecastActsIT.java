package io.lendstream.launcher.services;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.GpuQuantiles;
import io.lendstream.core.event.HorizonQuantiles;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.OwnerState;
import io.lendstream.stack.ServiceKind;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Forecasts from request rates to reclaims: scheduler and forecaster are processes on a real broker, in virtual time. And
 * what the scheduler does if the forecaster is down, late or wrong. The first two tests share a forecaster, which is why
 * they are first; none needs another one.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class ForecastActsIT {
    private static final Instant TODAY = Instant.parse("2026-03-09T00:00:00Z");
    private static final Duration HISTORY = Duration.ofDays(9);
    /** Requests per second that one replica answers. */
    private static final double CALM = 5;
    /** Requests per second that need all four inference GPUs. */
    private static final double BUSY = 28;

    /** The first minutes of each hour, which are busy. */
    private static final int BUSY_MINUTES = 20;

    @TempDir
    private static Path directory;

    private final Deployment deployment = new Deployment(1);
    private Optional<Deployment.Running> forecaster = Optional.empty();

    @BeforeAll
    void startScheduler() {
        start(
                ServiceKind.SCHEDULER,
                "--set",
                "kafka.state.dir=" + directory.resolve("state"),
                "--set",
                "kafka.processing.guarantee=at_least_once",
                "--set",
                "scheduler.policy=lendstream",
                "--set",
                "scheduler.forecaster=none"); // the test itself waits for forecasts, as long as there is a forecaster
    }

    @AfterAll
    void stop() {
        deployment.close();
    }

    @Test
    @Order(1)
    void loansComeBackBeforeTheDemandThatIsForecast() {
        startForecaster();
        try (VirtualDomain domain = new VirtualDomain(deployment, "acts", at("07:50"))) {
            lendAll(domain, ForecastActsIT::usual);

            Decision reclaim = domain.passUntil("reclaim", Decision::isReclaim, at("07:57"), CALM);
            HorizonQuantiles fiveMinutes = domain.lastForecast().horizons().get(1);
            domain.pass(at("07:59"), CALM);

            assertThat(reclaim.at()).isEqualTo(at("07:56"));
            assertThat(reclaim.reason().code()).isEqualTo(ReasonCode.FORECAST.label());
            assertThat(reclaim.reason().text())
                    .contains("4 needed (1 for the current load, 4 by the forecast for 08:01 UTC), 1 running");
            assertThat(reclaim.reason().numbers())
                    .containsEntry("neededNow", 1.0)
                    .containsEntry("neededAhead", 4.0)
                    .containsEntry("requestsPerSecond", CALM);
            assertThat(fiveMinutes.gpus().map(GpuQuantiles::p99)).contains(VirtualDomain.POOL);
            assertThat(forecastInputs(domain, reclaim))
                    .extracting(DemandForecast::issuedAt)
                    .containsExactly(at("07:56"));
            domain.awaitOwners(OwnerState.SERVING, VirtualDomain.POOL);
            assertThat(lastStart(domain)).isBefore(at("08:00"));
            System.out.printf(
                    "%s%nreclaimed at %s, ready at %s%n", reclaim.reason().text(), reclaim.at(), lastStart(domain));

            domain.pass(at("08:02"), BUSY);

            assertThat(since(at("08:00"), domain)).isEmpty();
            assertThat(deployment.command("explain", reclaim.id().toString()).out())
                    .contains("by the forecast for 08:01 UTC", "equal to the record.");
        }
    }

    @Test
    @Order(2)
    void withoutAForecasterMeasuredDemandAndItsRecentPeakDecide() throws Exception {
        startForecaster();
        try (VirtualDomain domain = new VirtualDomain(deployment, "down", at("07:50"))) {
            lendAll(domain, ForecastActsIT::usual);
            Decision ahead = domain.passUntil("reclaim", Decision::isReclaim, at("07:57"), CALM);
            assertThat(ahead.reason().code()).isEqualTo(ReasonCode.FORECAST.label());
            domain.pass(at("07:58"), CALM);
            domain.awaitOwners(OwnerState.SERVING, VirtualDomain.POOL);

            stopForecaster();
            domain.forecasterRuns(false);
            domain.pass(at("08:00"), CALM);
            assertThat(domain.lastForecast().issuedAt()).isEqualTo(at("07:58"));
            assertThat(domain.lastForecast().horizons().get(1).p99())
                    .as("what the last forecast expects")
                    .isGreaterThan(BUSY - 1);

            Decision lend = domain.passUntil(
                    "loan", decision -> decision.action().asLend().isPresent(), at("08:04"), CALM);
            domain.pass(at("08:05"), CALM);
            domain.awaitOwners(OwnerState.LENT, VirtualDomain.POOL - 1);
            assertThat(lend.at()).isAfterOrEqualTo(at("08:01"));

            Decision reclaim = domain.passUntil("reclaim", Decision::isReclaim, at("08:06"), BUSY);
            Decision start = domain.passUntil("start", ForecastActsIT::startsReplicas, at("08:07"), CALM);

            assertThat(reclaim.at()).isEqualTo(at("08:05:15"));
            assertThat(reclaim.reason().code()).isEqualTo(ReasonCode.DEMAND.label());
            assertThat(reclaim.reason().text()).contains("4 needed for the current load, 1 running");
            assertThat(start.reason().code()).isEqualTo(ReasonCode.FORECAST.label());
            assertThat(start.reason().text())
                    .contains("4 needed (1 for the current load, 4 by the peak of the last 10 minutes), 1 running");
        }
    }

    @Test
    @Order(3)
    void aForecastThatIsOlderThanThreeStepsIsIgnored() throws Exception {
        stopForecaster();
        try (VirtualDomain domain = new VirtualDomain(deployment, "late", at("12:00"))) {
            lendAll(domain);

            domain.forecast(at("12:02"), BUSY);
            domain.pass(at("12:07"), CALM);
            assertThat(since(at("12:05"), domain)).isEmpty();

            domain.forecast(domain.now(), BUSY);
            Decision reclaim = domain.passUntil("reclaim", Decision::isReclaim, at("12:08"), CALM);
            assertThat(reclaim.reason().code()).isEqualTo(ReasonCode.FORECAST.label());
            assertThat(forecastInputs(domain, reclaim))
                    .extracting(DemandForecast::issuedAt)
                    .containsExactly(at("12:07"));
        }
    }

    @Test
    @Order(4)
    void aWrongForecastCostsAtMostLoansUntilTheNextOne() throws Exception {
        stopForecaster();
        try (VirtualDomain domain = new VirtualDomain(deployment, "wrong", at("12:00"))) {
            lendAll(domain);

            domain.forecast(domain.now(), 1_000_000);
            Decision reclaim = domain.passUntil("reclaim", Decision::isReclaim, at("12:06"), CALM);
            domain.pass(at("12:07"), CALM);
            domain.awaitOwners(OwnerState.SERVING, VirtualDomain.POOL);
            domain.awaitOwners(OwnerState.TRAINING, VirtualDomain.OWN);
            assertThat(reclaim.reason().numbers().get("neededAhead")).isGreaterThan(100_000);
            assertThat(reclaim.action().asReclaim().orElseThrow().allocation().gpus())
                    .hasSize(VirtualDomain.OWN);

            domain.forecast(domain.now(), CALM);
            domain.passUntil("loan", decision -> decision.action().asLend().isPresent(), at("12:08:45"), CALM);
            domain.forecast(domain.now(), CALM);
            domain.pass(at("12:10"), CALM);
            domain.awaitOwners(OwnerState.LENT, VirtualDomain.POOL - 1);

            for (int minute = 0; minute < 4; minute++) {
                domain.forecast(domain.now(), 0);
                domain.pass(domain.now().plus(VirtualDomain.STEP), BUSY);
            }
            List<Decision> later = since(at("12:10"), domain);
            assertThat(later).filteredOn(Decision::isReclaim).singleElement().satisfies(back -> {
                assertThat(back.reason().code()).isEqualTo(ReasonCode.DEMAND.label());
                assertThat(back.reason().numbers())
                        .containsEntry("neededNow", 4.0)
                        .containsEntry("neededAhead", 0.0);
            });
            assertThat(later)
                    .noneMatch(decision -> decision.action().asIdle().isPresent()
                            || decision.action().asLend().isPresent());
            domain.awaitOwners(OwnerState.SERVING, VirtualDomain.POOL);
        }
    }

    /** After days like this one. */
    private void lendAll(VirtualDomain domain, ToDoubleFunction<Instant> past) {
        domain.remember(HISTORY, past);
        domain.forecasterRuns(true);
        lendAll(domain);
    }

    /** Lends all inference GPUs but the one that the service needs, within five minutes. */
    private static void lendAll(VirtualDomain domain) {
        domain.begin();
        domain.pass(domain.now().plus(Duration.ofMinutes(5)), CALM);
        domain.awaitOwners(OwnerState.LENT, VirtualDomain.POOL - 1);
        domain.awaitOwners(OwnerState.SERVING, 1);
        domain.awaitOwners(OwnerState.TRAINING, VirtualDomain.OWN);
    }

    /** Busy at the beginning of each hour, with a ripple of 2 %. */
    private static double usual(Instant time) {
        int minute = LocalTime.ofInstant(time, ZoneOffset.UTC).getMinute();
        double level = minute < BUSY_MINUTES ? BUSY : CALM;
        return level * (1 + 0.02 * Math.sin(time.getEpochSecond() / 1234.0));
    }

    private static boolean startsReplicas(Decision decision) {
        return decision.action().asServe().filter(serve -> !serve.warm()).isPresent();
    }

    /** Decisions about replicas and loans since a time; renewals of loans are no change. */
    private static List<Decision> since(Instant time, VirtualDomain domain) {
        Predicate<Decision> isLater = decision -> !decision.at().isBefore(time);
        return domain.decisions().stream()
                .filter(isLater.and(decision -> !(decision.action() instanceof Action.Renew)))
                .toList();
    }

    private static List<DemandForecast> forecastInputs(VirtualDomain domain, Decision decision) {
        return domain.inputs(decision).stream()
                .map(DomainEvent::event)
                .filter(DemandForecast.class::isInstance)
                .map(DemandForecast.class::cast)
                .toList();
    }

    /** When the last replica was ready, as its actuator reported. */
    private static Instant lastStart(VirtualDomain domain) {
        return domain.reports().stream()
                .filter(report -> report.outcome() == Outcome.BOUND
                        && report.tenant().equals(Optional.of(new Tenant.Service(domain.service()))))
                .map(ActuationReport::at)
                .max(Instant::compareTo)
                .orElseThrow();
    }

    /** A time of day. */
    private static Instant at(String clock) {
        return TODAY.plusSeconds(LocalTime.parse(clock).toSecondOfDay());
    }

    private void startForecaster() {
        if (forecaster.isEmpty()) {
            forecaster = Optional.of(start(ServiceKind.FORECASTER));
        }
    }

    private void stopForecaster() throws InterruptedException {
        if (forecaster.isPresent()) {
            forecaster.get().process().destroyForcibly().waitFor();
            forecaster = Optional.empty();
        }
    }

    private Deployment.Running start(ServiceKind kind, String... settings) {
        List<String> arguments = deployment.with(settings);
        arguments.addAll(List.of("--set", "time=virtual", "--set", "health.port=0"));
        return deployment
                .start(kind, directory.resolve(kind.command() + ".log"), arguments)
                .ready();
    }
}
