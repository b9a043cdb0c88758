package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.Granularity;
import io.lendstream.core.event.Limits;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.service.host.HostName;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ActuatorSettingsTest {
    @TempDir
    Path folder;

    @Test
    void processesOfOneMachineHaveNoStandbyOnOthers() {
        assertThat(settings("actuator.standby=true", "actuator.driver=simulated")
                        .standby())
                .isTrue();
        assertThatThrownBy(() -> settings(
                        "actuator.standby=true",
                        "actuator.driver=process",
                        "actuator.state-dir=" + folder,
                        "actuator.process.programs=" + folder))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("actuator.standby is true, but actuator.driver is process")
                .hasMessageContaining("actuator.state-dir takes over");
    }

    @Test
    void byDefaultDelaysAreRealisticAndAllDomainsAreItsOwn() {
        ActuatorSettings settings = settings();

        assertThat(settings.choice())
                .isEqualTo(new DriverChoice.Simulated(SimulatedDelays.realistic(), Abilities.USUAL));
        assertThat(settings.abilities()).isEqualTo(Abilities.USUAL);
        assertThat(settings.nodes()).isEmpty();
        assertThat(settings.covers(new DomainId("any"))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rack 1", "gpus-ö", "a\"b", "c\\d", "pool/../a", "."})
    void aNameThatTheSchedulerWouldRefuseStopsTheStart(String name) {
        assertThatThrownBy(() -> settings("actuator.name=" + name))
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "actuator.name is '%s' (--set), but must be a name: 1 to 249 printable ASCII characters without"
                                + " blanks, quotes and backslashes, and no part between slashes that is '.' or '..'."
                                + " Change it, or leave it out for actuator.",
                        name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"east,rack 1", "..", "west,gpus-ö"})
    void aDomainThatCannotBeStopsTheStart(String domains) {
        assertThatThrownBy(() -> settings("actuator.domains=" + domains))
                .isInstanceOf(SettingsException.class)
                .hasMessageStartingWith(
                        "actuator.domains is '%s' (--set), but must be names separated by commas".formatted(domains));
    }

    @Test
    void aNameMayHaveAsManyCharactersAsARecord() {
        String longest = "a".repeat(Limits.LONGEST_NAME);

        assertThat(settings("actuator.name=" + longest).name()).isEqualTo(longest);
        assertThatThrownBy(() -> settings("actuator.name=" + longest + "a"))
                .hasMessageContaining("must be a name: 1 to 249");
    }

    @Test
    void theSystemBehindTheDriverMayBeAbleToDoLess() {
        Abilities less = settings("actuator.granularity=node", "actuator.spans-nodes=false", "actuator.mig=false")
                .abilities();

        assertThat(less.granularity()).isEqualTo(Granularity.NODE);
        assertThat(less.spansNodes()).isFalse();
        assertThat(less.mig()).isFalse();
    }

    @Test
    void theSystemBehindTheDriverMayBeAbleToPauseJobs() {
        assertThat(settings().abilities().suspend()).isFalse();
        assertThat(settings("actuator.suspend=true").abilities().suspend()).isTrue();
    }

    @Test
    void aLabelDividesNodesIntoGroups() {
        assertThat(settings("actuator.granularity=nodes", "actuator.group-label=rack")
                        .abilities())
                .isEqualTo(Abilities.USUAL.inGroupsBy("rack"));
        assertThatThrownBy(() -> settings("actuator.granularity=node", "actuator.group-label=rack"))
                .hasMessage(
                        "actuator.group-label is 'rack', but actuator.granularity is node, so no groups of nodes are"
                                + " lent. Set it to nodes, or leave the label out.");
    }

    @Test
    void publishedTimingIsThatOfThePublishedSimulator() {
        assertThat(settings("actuator.simulated.published-timing=true").choice())
                .isEqualTo(new DriverChoice.Simulated(SimulatedDelays.published(), Abilities.USUAL));
    }

    @Test
    void sharesOfTroubleThatExceedOneTogetherAreRefused() {
        assertThatThrownBy(() -> settings("actuator.simulated.silence=0.6", "actuator.simulated.failed-binds=0.6"))
                .hasMessage("actuator.simulated.stuck-releases, actuator.simulated.failed-binds and"
                        + " actuator.simulated.silence are 0.0, 0.6 and 0.6, but must be at most 1 together: they are"
                        + " shares of the same decisions. Lower one of them.");
    }

    @Test
    void aDriverThatIsNotThereIsNotListed() {
        assertThatThrownBy(() -> settings("actuator.driver=kubernetes"))
                .hasMessageContaining("must be simulated or process or command or webhook");
    }

    @Test
    void aDamagedStateFileIsRebuilt() throws Exception {
        Files.writeString(folder.resolve("actuator.avro"), "not Avro");

        assertThat(StateFile.in(folder).load()).isEmpty();
    }

    @Test
    void aStateDirectoryThatCannotBeUsedIsRefusedWithTheCause() throws Exception {
        Path file = Files.writeString(folder.resolve("notes.txt"), "mine");

        assertThatThrownBy(() -> StateFile.in(file))
                .isInstanceOf(SettingsException.class)
                .hasMessageStartingWith("actuator.state-dir is %s, which cannot be used: it is a file. ", file);
    }

    @Test
    void aMemoryIsReadAsItWasWritten() {
        ActuatorState state = ActuatorState.empty("a");

        StateFile.in(folder).save(state);

        assertThat(StateFile.in(folder).load()).contains(state);
    }

    @Test
    void aMemoryIsClosedToOthers() throws Exception {
        Files.createFile(folder.resolve("actuator.avro"));
        Files.createFile(folder.resolve("actuator.avro.new"));

        StateFile.in(folder).save(ActuatorState.empty("a"));

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("actuator.avro"))))
                .isEqualTo("rw-------");
    }

    @Test
    void ofTheActuatorsOwnSettingsNoneMayBeGivenToJobs() {
        assertThatThrownBy(() -> settings(
                        "actuator.driver=command",
                        "actuator.command=/bin/true",
                        "actuator.environment=HOME,LENDSTREAM_CONFIG"))
                .hasMessage(
                        "actuator.environment: LENDSTREAM_CONFIG is a setting of the actuator, which jobs never get; set it"
                                + " in the job's program file if the job needs it.");
        assertThat(settings(
                                "actuator.driver=command",
                                "actuator.command=/bin/true",
                                "actuator.environment=KUBECONFIG,HF_*")
                        .driven())
                .isPresent();
    }

    @Test
    void theProcessDriverManagesThisHostAndRunsJobsOnIt() {
        ActuatorSettings settings = processes();

        assertThat(settings.nodes()).containsExactly(new NodeId(HostName.or(Optional.empty(), "actuator.nodes")));
        assertThat(settings.scope().inWords()).endsWith(" (this host)");
        assertThat(settings.abilities().spansNodes()).isFalse();
    }

    @Test
    void otherNodesAreTheProcessDriversBySettingOnly() {
        ActuatorSettings all = processes("actuator.nodes=all");
        ActuatorSettings two = processes("actuator.nodes=n1,n2");
        ActuatorSettings one = processes("actuator.nodes=n1");

        assertThat(all.nodes()).isEmpty();
        assertThat(all.scope().inWords()).isEqualTo("all nodes of its domains");
        assertThat(all.abilities().spansNodes()).isTrue();
        assertThat(two.nodes()).containsExactly(new NodeId("n1"), new NodeId("n2"));
        assertThat(two.scope().inWords()).isEqualTo("nodes n1, n2");
        assertThat(two.abilities().spansNodes()).isTrue();
        assertThat(one.scope().inWords()).isEqualTo("node n1");
        assertThat(one.abilities().spansNodes()).isFalse();
        assertThat(processes("actuator.nodes=none").scope().inWords()).isEqualTo("no node");
    }

    @Test
    void aProcessDriverSharesJobsWithOtherMachinesBySettingOnly() {
        assertThat(processes("actuator.spans-nodes=true").abilities().spansNodes())
                .isTrue();
        assertThat(processes("actuator.nodes=n1", "actuator.spans-nodes=true")
                        .abilities()
                        .spansNodes())
                .isTrue();
        assertThat(processes("actuator.nodes=all", "actuator.spans-nodes=false")
                        .abilities()
                        .spansNodes())
                .isFalse();
        assertThat(settings().abilities().spansNodes()).isTrue();
    }

    @Test
    void portsForTheRendezvousAreARangeWithSomeForEachGpu() {
        assertThatThrownBy(() -> processes("actuator.rendezvous-ports=29500-29510"))
                .hasMessage(
                        "actuator.rendezvous-ports is '29500-29510', but must be two ports with at least 16 from the"
                                + " first to the last, such as 29500-29999. Change it, or leave it out.");
    }

    @Test
    void otherDriversManageAllNodes() {
        assertThat(settings("actuator.driver=command", "actuator.command=/bin/sh")
                        .nodes())
                .isEmpty();
        assertThat(settings("actuator.nodes=all").nodes()).isEmpty();
        assertThat(settings("actuator.nodes=n1").abilities().spansNodes()).isTrue();
    }

    @Test
    void allNodesAndAFewMoreAreAMistake() {
        assertThatThrownBy(() -> settings("actuator.nodes=n1,all"))
                .isInstanceOf(SettingsException.class)
                .hasMessage(
                        "actuator.nodes is n1,all, but 'all' already includes the other nodes. Set it to all, or leave 'all' out.");
    }

    private ActuatorSettings processes(String... more) {
        List<String> all = new ArrayList<>(List.of(
                "actuator.driver=process",
                "actuator.process.programs=" + folder,
                "actuator.state-dir=" + folder.resolve("state")));
        all.addAll(List.of(more));
        return settings(all.toArray(String[]::new));
    }

    @Test
    void noMessageHasThePasswordInAnAddress() {
        assertThatThrownBy(() -> settings("actuator.driver=webhook", "actuator.webhook.url=https://user:se cret@host/"))
                .hasMessageContaining("https://(hidden)@host/")
                .hasMessageNotContaining("cret")
                .hasNoCause();
        assertThatThrownBy(() -> settings("actuator.driver=webhook", "actuator.webhook.url=https://user:secret@ho_st/"))
                .hasMessageContaining("must be an http or https address")
                .hasMessageNotContaining("secret");
    }

    @Test
    void aStateDirectoryThatIsTooLongForTheWorkersSocketIsRefused() {
        String deep = folder.resolve("x".repeat(100)).toString();

        assertThatThrownBy(() -> settings(
                        "actuator.driver=process", "actuator.process.programs=" + folder, "actuator.state-dir=" + deep))
                .hasMessageContaining("the limit is 107. Use a shorter state directory");
    }

    private static ActuatorSettings settings(String... settings) {
        return ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS, settings));
    }
}
