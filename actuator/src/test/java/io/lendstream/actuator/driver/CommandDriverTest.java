package io.lendstream.actuator.driver;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.id.GpuId;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandDriverTest {
    private static final CleanEnvironment ENVIRONMENT = CleanEnvironment.of(
            Map.of("PATH", System.getenv("PATH"), "LENDSTREAM_KAFKA_SASL_JAAS_CONFIG", "password=broker"), List.of());

    @TempDir
    private Path folder;

    private final RecordingListener heard = new RecordingListener();
    private Driver driver =
            new CommandDriver(List.of("/bin/true"), ENVIRONMENT, new DriverLimits(4, 1000, ofSeconds(10)), heard);

    @AfterEach
    void close() {
        driver.close();
    }

    /** A program that keeps the lines it gets in a file. */
    private void command(String shell, DriverLimits limits) throws IOException {
        Path script = folder.resolve("command.sh");
        Files.writeString(script, "#!/bin/sh\nread -r line; echo \"$line\" >> %s/lines\n%s\n".formatted(folder, shell));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        driver.close();
        driver = new CommandDriver(List.of(script.toString()), ENVIRONMENT, limits, heard);
        assertThat(driver.complaints()).isEmpty();
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(folder.resolve("lines"));
    }

    @Test
    void anOrderIsALineOfJsonOnStandardInputAndStatusZeroSaysThatItIsSo() throws Exception {
        command("exit 0", new DriverLimits(4, 1000, ofSeconds(10)));

        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a", "b"), Orders.gpus("c")));

        await().atMost(ofSeconds(10)).until(() -> heard.deeds().size() == 3);
        assertThat(heard.deeds())
                .containsExactly(
                        new DriverEvent.Stopped(Orders.JOB, Orders.gpus("c"), false, ""),
                        new DriverEvent.Started(Orders.JOB, Orders.gpus("a", "b")),
                        new DriverEvent.InForce(Orders.JOB, Orders.decision(1)));
        assertThat(lines())
                .containsExactly("{\"decision\":\"d/1/1\",\"kind\":\"place\",\"job\":\"job\",\"units\":[\"a\",\"b\"],"
                        + "\"leaving\":[\"c\"],\"by\":\"2026-01-01T12:00:00Z\",\"allocation\":{\"localBatch\":16,"
                        + "\"accumulation\":0,\"learningRateScale\":1.0,\"mechanism\":\"afe\"}}");
    }

    @Test
    void namesThatAShellWouldMindAreOnlyNames() throws Exception {
        command("exit 0", new DriverLimits(4, 1000, ofSeconds(10)));
        String evil = "$(touch %s/broken); `touch %s/broken` \" ' | &".formatted(folder, folder);

        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus(evil), List.of()));

        await().atMost(ofSeconds(10)).until(() -> heard.deeds().size() == 2);
        assertThat(folder.resolve("broken")).doesNotExist();
        assertThat(lines().get(0)).contains("$(touch ");
    }

    @Test
    void anotherStatusSaysThatItWillNotBeSoAndTheLastErrorWhy() throws Exception {
        command("echo one >&2; echo 'no such job' >&2; exit 3", new DriverLimits(4, 1000, ofSeconds(10)));

        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0))
                .isInstanceOfSatisfying(
                        DriverEvent.Failed.class,
                        failed -> assertThat(failed.reason()).contains("exited with status 3: no such job"));
    }

    @Test
    void status75AsksToBeRunAgain() throws Exception {
        command("[ $(wc -l < %s/lines) -ge 2 ] || exit 75".formatted(folder), new DriverLimits(4, 1000, ofSeconds(10)));

        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0)).isInstanceOf(DriverEvent.Started.class);
        assertThat(lines()).hasSize(2);
    }

    @Test
    void aCommandThatHangsIsEndedWithAllThatItStarted() throws Exception {
        command(
                "sleep 300 & echo $! > %s/child; sleep 300".formatted(folder),
                new DriverLimits(4, 1000, ofMillis(700)));

        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0)).isInstanceOf(DriverEvent.Failed.class);
        long child = Long.parseLong(Files.readString(folder.resolve("child")).strip());
        await().atMost(ofSeconds(10))
                .until(() ->
                        ProcessHandle.of(child).filter(ProcessHandle::isAlive).isEmpty());
    }

    @Test
    void whatACommandHasStartedAndLeftToItselfIsEndedTooWhenItHangs() throws Exception {
        command(
                "(setsid sleep 300 & echo $! > %s/child); sleep 300".formatted(folder),
                new DriverLimits(4, 1000, ofMillis(700)));

        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        long child = Long.parseLong(Files.readString(folder.resolve("child")).strip());
        await().atMost(ofSeconds(10))
                .until(() ->
                        ProcessHandle.of(child).filter(ProcessHandle::isAlive).isEmpty());
    }

    /** More than a pipe holds, so that it has to be read. */
    private static Order large() {
        List<GpuId> units = IntStream.range(0, 5000)
                .mapToObj(number -> new GpuId("GPU-01234567-89ab-cdef-0123-" + number))
                .toList();
        return Orders.place(1, Orders.JOB, units, List.of());
    }

    private void commandThatDoesNotRead(String shell, DriverLimits limits) throws IOException {
        Path script = folder.resolve("deaf.sh");
        Files.writeString(script, "#!/bin/sh\n%s\n".formatted(shell));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        driver.close();
        driver = new CommandDriver(List.of(script.toString()), ENVIRONMENT, limits, heard);
    }

    @Test
    void aCommandThatDoesNotReadALargeOrderIsEndedInTimeAndLeavesNoFile() throws Exception {
        List<String> before = temporaryFiles();
        commandThatDoesNotRead("exec sleep 300", new DriverLimits(4, 1000, ofMillis(700)));

        driver.take(large());

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0))
                .isInstanceOfSatisfying(
                        DriverEvent.Failed.class,
                        failed -> assertThat(failed.reason()).contains("did not end within PT0.7S"));
        assertThat(temporaryFiles()).isEqualTo(before);
    }

    private static List<String> temporaryFiles() {
        String[] all = new File(System.getProperty("java.io.tmpdir"))
                .list((any, name) -> name.startsWith("lendstream-command"));
        return all == null ? List.of() : List.of(all);
    }

    @Test
    void aCommandThatAnswersWithoutReadingALargeOrderHasAnswered() throws Exception {
        commandThatDoesNotRead("exit 0", new DriverLimits(4, 1000, ofSeconds(10)));

        driver.take(large());

        await().atMost(ofSeconds(10))
                .until(() -> heard.deeds().contains(new DriverEvent.InForce(Orders.JOB, Orders.decision(1))));
    }

    @Test
    void aLargeOrderArrivesWhole() throws Exception {
        command("exit 0", new DriverLimits(4, 1000, ofSeconds(10)));

        driver.take(large());

        await().atMost(ofSeconds(10))
                .until(() -> heard.deeds().contains(new DriverEvent.InForce(Orders.JOB, Orders.decision(1))));
        assertThat(lines()).containsExactly(OrderJson.of(large()));
    }

    @Test
    void ofWhatItWritesOnlyTheEndIsKeptAndNoneOfItIsWaitedFor() throws Exception {
        command(
                "head -c 20000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo 'the end' >&2; exit 3",
                new DriverLimits(4, 1000, ofSeconds(30)));

        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(30)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0))
                .isInstanceOfSatisfying(
                        DriverEvent.Failed.class,
                        failed -> assertThat(failed.reason()).endsWith("exited with status 3: the end"));
    }

    @Test
    void aCommandThatWritesForEverIsEndedInTimeAndItsReasonIsShort() throws Exception {
        command("head -c 1000 /dev/zero | tr '\\0' x >&2; exit 3", new DriverLimits(4, 1000, ofSeconds(10)));
        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));
        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(heard.deeds().get(0))
                .isInstanceOfSatisfying(
                        DriverEvent.Failed.class,
                        failed -> assertThat(failed.reason()).endsWith("x..."));

        command("while :; do echo more; echo more >&2; done", new DriverLimits(4, 1000, ofMillis(700)));
        driver.take(Orders.place(2, Orders.JOB, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> heard.deeds().size() == 2);
        assertThat(heard.deeds().get(1))
                .isInstanceOfSatisfying(
                        DriverEvent.Failed.class,
                        failed -> assertThat(failed.reason()).contains("did not end within"));
    }

    @Test
    void aCommandGetsNoneOfTheActuatorsSettings() throws Exception {
        command("env > %s/env".formatted(folder), new DriverLimits(4, 1000, ofSeconds(10)));

        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));

        await().atMost(ofSeconds(10)).until(() -> !heard.deeds().isEmpty());
        assertThat(Files.readAllLines(folder.resolve("env")).stream().map(line -> line.replaceAll("=.*", "")))
                .contains("PATH")
                .isSubsetOf("PATH", "LENDSTREAM_COMMAND", "PWD", "OLDPWD", "SHLVL", "_");
    }

    @Test
    void aRunningCommandIsEndedWhenTheDriverCloses() throws Exception {
        command("echo $$ > %s/child; exec sleep 300".formatted(folder), new DriverLimits(4, 1000, ofSeconds(100)));
        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));
        await().atMost(ofSeconds(10)).until(() -> !readChild().isEmpty());
        long child = Long.parseLong(readChild());

        driver.close();

        await().atMost(ofSeconds(10))
                .until(() ->
                        ProcessHandle.of(child).filter(ProcessHandle::isAlive).isEmpty());
    }

    private String readChild() throws IOException {
        Path child = folder.resolve("child");
        return Files.exists(child) ? Files.readString(child).strip() : "";
    }

    @Test
    void ordersAboutOneTenantAreTriedOneAtATimeAndOnlyTheNewestThatWaits() throws Exception {
        command("sleep 0.5", new DriverLimits(4, 1000, ofSeconds(10)));

        for (int sequence = 1; sequence <= 5; sequence++) {
            driver.take(Orders.place(sequence, Orders.JOB, Orders.gpus("a"), List.of()));
        }

        await().atMost(ofSeconds(10))
                .until(() -> heard.deeds().contains(new DriverEvent.InForce(Orders.JOB, Orders.decision(5))));
        assertThat(lines()).hasSize(2);
        assertThat(lines().get(1)).contains("d/1/5");
    }

    @Test
    void killingDoesNotWaitForWhatHangsOrForTheRate() throws Exception {
        command("case \"$line\" in *place*) sleep 5;; esac", new DriverLimits(1, 0.1, ofSeconds(10)));
        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));

        driver.take(new Order.Force(Orders.decision(2), Orders.JOB, Orders.gpus("b")));

        await().atMost(ofSeconds(4))
                .until(() -> heard.deeds().contains(new DriverEvent.Stopped(Orders.JOB, Orders.gpus("b"), true, "")));
    }

    @Test
    void aTenantKilledWhileItStartsIsReportedStoppedOnlyWhenItCanNoLongerComeUp() throws Exception {
        command("case \"$line\" in *place*) sleep 2; exit 3;; esac", new DriverLimits(2, 1000, ofSeconds(10)));
        Order kill = new Order.Force(Orders.decision(2), Orders.JOB, Orders.gpus("a"));
        DriverEvent gone = new DriverEvent.Stopped(Orders.JOB, Orders.gpus("a"), true, "");
        driver.take(Orders.place(1, Orders.JOB, Orders.gpus("a"), List.of()));
        await().atMost(ofSeconds(10)).until(() -> Files.exists(folder.resolve("lines")));

        driver.take(kill);

        await().atMost(ofSeconds(10))
                .until(() -> heard.deeds().stream().anyMatch(driverEvent -> driverEvent instanceof DriverEvent.Failed));
        assertThat(lines()).hasSize(2);
        assertThat(heard.deeds()).doesNotContain(gone);
        await().atMost(ofSeconds(20)).pollInterval(ofSeconds(1)).until(() -> {
            boolean told = heard.deeds().contains(gone);
            if (!told) {
                driver.take(kill);
            }
            return told;
        });
    }

    @Test
    void aNewerOrderIsTriedInThePlaceOfOneThatIsToBeTriedAgain() throws Exception {
        command("case \"$line\" in *d/1/1*) exit 75;; esac", new DriverLimits(4, 1000, ofSeconds(10)));
        driver.take(Orders.place(1, Orders.CHAT, Orders.gpus("a"), List.of()));
        await().atMost(ofSeconds(10)).until(() -> Files.exists(folder.resolve("lines")));

        driver.take(Orders.place(2, Orders.CHAT, List.of(), Orders.gpus("a")));

        await().atMost(ofSeconds(10))
                .until(() -> heard.deeds().contains(new DriverEvent.InForce(Orders.CHAT, Orders.decision(2))));
        assertThat(heard.deeds()).doesNotContain(new DriverEvent.Started(Orders.CHAT, Orders.gpus("a")));
    }

    @Test
    void noMoreOrdersAreBegunInASecondThanAllowed() throws Exception {
        command("date +%s%N >> " + folder + "/times", new DriverLimits(8, 4, ofSeconds(10)));

        for (String unit : List.of("a", "b", "c", "d", "e")) {
            driver.take(new Order.Cut(Orders.decision(1), Orders.gpus(unit).get(0), List.of("7g.80gb@0")));
        }

        await().atMost(ofSeconds(10)).until(() -> heard.deeds().size() == 5);
        List<Long> times = Files.readAllLines(folder.resolve("times")).stream()
                .map(Long::valueOf)
                .sorted()
                .toList();
        assertThat(times.get(4) - times.get(0)).isGreaterThan(700_000_000L);
    }

    @Test
    void saysWhatIsWrongWithIt() {
        assertThat(new CommandDriver(List.of(), ENVIRONMENT, new DriverLimits(1, 1, ofSeconds(1)), heard).complaints())
                .containsExactly("actuator.command is empty; name a program and its arguments");
        assertThat(new CommandDriver(List.of("act.sh"), ENVIRONMENT, new DriverLimits(1, 1, ofSeconds(1)), heard)
                        .complaints()
                        .get(0))
                .contains("not an absolute path");
        assertThat(new CommandDriver(List.of("/no/such"), ENVIRONMENT, new DriverLimits(1, 1, ofSeconds(1)), heard)
                        .complaints()
                        .get(0))
                .contains("cannot run");
    }
}
