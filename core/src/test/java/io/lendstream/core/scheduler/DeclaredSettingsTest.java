package io.lendstream.core.scheduler;

import static java.time.Duration.ofMinutes;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.scheduler.DeclarableSettings.Form;
import io.lendstream.core.state.ClusterState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A domain has settings of its own, over those of the scheduler's configuration. */
class DeclaredSettingsTest {
    private final Scenario story = Scenario.of("deepboot")
            .node("train", Pool.TRAINING, 1)
            .node("infer", Pool.INFERENCE, 4)
            .settled();

    private Scenario declare(Map<String, String> settings) {
        return story.tell(new DomainSettings(Scenario.DOMAIN, story.now(), settings));
    }

    /** Jobs of one GPU each, planned and started. */
    private void fiveJobs() {
        for (String name : List.of("a", "b", "c", "d", "e")) {
            story.job(name, 1);
        }
        story.after(ofMinutes(1)).settled();
    }

    private static Optional<String> problem(String name, String text) {
        return DeclarableSettings.problem(new DomainSettings(Scenario.DOMAIN, Scenario.START, Map.of(name, text)));
    }

    private long lent() {
        return story.state().gpus().stream()
                .filter(gpu -> gpu.pool() == Pool.INFERENCE && gpu.owner().isLent())
                .count();
    }

    private void assertReplays() {
        List<Decision> again = new ArrayList<>();
        ClusterState state = ClusterState.empty(Scenario.DOMAIN);
        Optional<Scheduler> scheduler = Optional.empty();
        for (var event : story.log()) {
            if (event.event().asStarted().isPresent()) {
                scheduler = event.event().asStarted().map(Scheduler::of);
            }
            Step step = scheduler.orElseThrow().step(state, event);
            state = step.state();
            again.addAll(step.decisions());
        }
        assertThat(again).isEqualTo(story.decisions());
        assertThat(state).isEqualTo(story.state());
        assertThat(story.verdict().violations()).isEmpty();
    }

    @Test
    void aDeclaredLimitCountsAtTheNextPlanAndItsRemovalBringsTheConfigurationBack() {
        declare(Map.of("max-share-lent", "0.25"));
        fiveJobs();
        assertThat(lent()).isEqualTo(1);

        story.tell(new DomainSettings(Scenario.DOMAIN, story.now(), Map.of()).removedAt(story.now()))
                .after(ofMinutes(1))
                .settled();

        assertThat(story.state().mode().declared()).isEmpty();
        assertThat(lent()).isEqualTo(4);
        assertReplays();
    }

    @Test
    void loansBeyondALoweredLimitStayAndNoneIsAdded() {
        story.job("a", 1).job("b", 1).job("c", 1).after(ofMinutes(1)).settled();
        assertThat(lent()).isEqualTo(2);

        declare(Map.of("max-share-lent", "0.25"));
        story.job("d", 1).after(ofMinutes(2)).settled();

        assertThat(lent()).isEqualTo(2);
        assertReplays();
    }

    @Test
    void aStartWithAnotherConfigurationKeepsThemOnTop() {
        declare(Map.of("lending", "false"));

        story.takenOverBy(new Scheduler(
                        Policies.parse("deepboot"),
                        SchedulerSettings.of(Map.of("lending", "true", "notice", "PT2M", "lease", "PT1H"))))
                .settled();
        fiveJobs();

        assertThat(lent()).isZero();
        assertThat(story.state().mode().declared()).isPresent();
        assertReplays();
    }

    @Test
    void ordersOfOperatorsKeepThem() {
        declare(Map.of("lending", "false")).control(ControlCommand.Kind.FREEZE);

        assertThat(story.state().mode().declared()).isPresent();
        assertThat(story.state().mode().frozen()).isTrue();
    }

    @Test
    void theStartInTheLogHasTheConfigurationAndTheSchedulerInForceTheDeclaration() {
        declare(Map.of("policy", "tiresias", "min-hold", "PT7M"));
        Scheduler start = new Scheduler(Policies.parse("deepboot"), SchedulerSettings.DEFAULTS);

        Scheduler inForce = start.in(story.state());

        assertThat(inForce.policy().info().name()).isEqualTo("tiresias");
        assertThat(inForce.settings().changeLimits().minHold()).isEqualTo(ofMinutes(7));
        assertThat(inForce.in(story.state())).isSameAs(inForce);
        assertThat(inForce.inOffice(story.state())).isEqualTo(start.inOffice(story.state()));
        assertThat(inForce.started(story.state(), story.now())).isEqualTo(start.started(story.state(), story.now()));
        assertThat(inForce.with(Optional.empty())).isEqualTo(start);
        assertThat(start.in(ClusterState.empty(Scenario.DOMAIN))).isSameAs(start);
    }

    @Test
    void aReplayHasTheSameSettingsAlsoWhereTheLogLeavesSomeOut() {
        SchedulerSettings live = SchedulerSettings.DEFAULTS.withChangeLimits(new ChangeLimits(
                1,
                10,
                10,
                Duration.ZERO,
                QuietWindows.NONE,
                TrustRules.DEFAULTS,
                new SloRules(0, ofMinutes(20), false)));
        DomainSettings declared = new DomainSettings(Scenario.DOMAIN, Scenario.START, Map.of("slo-extra", "0.5"));

        assertThat(DeclarableSettings.over(live, declared))
                .isEqualTo(DeclarableSettings.over(SchedulerSettings.of(live.toMap()), declared));
    }

    @Test
    void eachAllowedValueIsValidUnderAnyConfiguration() {
        SchedulerSettings narrow = SchedulerSettings.of(
                Map.of("notice", "PT1S", "lease", "PT4S", "bind-deadline", "PT1S", "node-stale-after", "PT1S"));
        Map<Form, List<String>> extremes = Map.of(
                Form.FLAG, List.of("true", "false"),
                Form.SHARE, List.of("0", "1"),
                Form.FACTOR, List.of("0", "10"),
                Form.COUNT, List.of("0", "2147483647"),
                Form.POSITIVE, List.of("1", "2147483647"),
                Form.TIME, List.of("PT0S", "P366D"),
                Form.PERIOD, List.of("PT1S", "P366D"));
        DeclarableSettings.forms().forEach((name, form) -> {
            for (String text : extremes.getOrDefault(form, List.of())) {
                assertThat(problem(name, text)).as(name).isEmpty();
                DomainSettings declared = new DomainSettings(Scenario.DOMAIN, Scenario.START, Map.of(name, text));
                SchedulerSettings inForce = DeclarableSettings.over(narrow, declared);
                assertThat(inForce.declarable().get(name))
                        .as(name)
                        .isIn(text, text + ".0", Duration.ofDays(366).toString());
            }
        });
    }

    @Test
    void aProblemNamesTheSettingItsValueTheBoundAndTheWayOut() {
        assertThat(problem("max-transfers", "0"))
                .contains("the settings of domain test: max-transfers is '0', but must be a whole number of at least 1."
                        + " Correct it, or leave it out for that of the configuration.");
        assertThat(problem("min-hold", "10m")).get().asString().contains("such as PT10M");
        assertThat(problem("slo-withhold", "P9999999D")).isPresent();
        assertThat(problem("lending", "yes")).isPresent();
        assertThat(problem("max-share-lent", "NaN")).isPresent();
        assertThat(problem("policy", "nonesuch")).get().asString().contains("there is no policy 'nonesuch'");
        assertThat(problem("quiet-windows", "sometimes")).isPresent();
        assertThat(problem("notice", "PT1M"))
                .get()
                .asString()
                .contains("only in the configuration of the scheduler (scheduler.notice)");
        assertThat(problem("notise", "PT1M")).get().asString().contains("there is no such setting");
    }

    @Test
    void aRecordThatEndsTheDeclarationIsAlwaysTaken() {
        DomainSettings ended = new DomainSettings(Scenario.DOMAIN, Scenario.START, Map.of("future", "1"), true);

        assertThat(DeclarableSettings.problem(ended)).isEmpty();
        assertThat(ended.standing()).isEmpty();
    }
}
