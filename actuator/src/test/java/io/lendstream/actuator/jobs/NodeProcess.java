package io.lendstream.actuator.jobs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A job host in a process of its own, so that it can be killed. Says its events on standard output. */
final class NodeProcess {
    private final Process process;
    private final RecordingJobListener heard = new RecordingJobListener();
    private final Writer commands;

    private NodeProcess(Process process) {
        this.process = process;
        this.commands = process.outputWriter(StandardCharsets.UTF_8);
        var reader = new Thread(() -> process.inputReader(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("event "))
                .forEach(line -> heard.say(line.substring("event ".length()))));
        reader.setDaemon(true);
        reader.start();
    }

    static NodeProcess start(Path state, Path log) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return new NodeProcess(
                new ProcessBuilder(java, "-cp", classes, NodeProcess.class.getName(), state.toString(), log.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start());
    }

    RecordingJobListener heard() {
        return heard;
    }

    /** {@code start 0,1 7}, {@code resize 0,1 8} or {@code stop - 9}: what, slots, and the change's number. */
    void tell(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    public static void main(String[] arguments) throws IOException {
        var heard = new RecordingJobListener() {
            @Override
            synchronized void say(String line) {
                System.out.println("event " + line);
                System.out.flush();
            }
        };
        var example = new ExampleJob(Path.of(arguments[1]));
        var host = JobHost.open(Path.of(arguments[0]), heard);
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", -1);
            List<Slot> slots = words[1].equals("-") ? List.of() : ExampleJob.slots(words[1]);
            var change = ExampleJob.change(Integer.parseInt(words[2]));
            switch (words[0]) {
                case "start" -> host.start(ExampleJob.ID, example.program(), slots, ExampleJob.BATCHING, change);
                case "resize" -> host.resize(ExampleJob.ID, slots, ExampleJob.BATCHING, change);
                case "stop" -> host.stop(ExampleJob.ID, change);
                default -> throw new IllegalArgumentException(line);
            }
        }
    }
}
