package io.lendstream.actuator.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A worker process that follows the protocol without training anything: each of its steps takes no time. */
final class WorkerMain {
    private static final long TICK_MILLIS = 50;

    private final SocketChannel channel;
    private String phase = "starting";
    private long seat;
    private long passed;
    private String kind = "";

    private WorkerMain(SocketChannel channel) {
        this.channel = channel;
    }

    /** The command that runs it. */
    static List<String> command() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return List.of(java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", classes, WorkerMain.class.getName());
    }

    public static void main(String[] arguments) throws Exception {
        var worker = new WorkerMain(SocketChannel.open(UnixDomainSocketAddress.of(variable("SOCKET"))));
        worker.say(worker.message("hello", 0)
                .put("version", 1)
                .put("worker", variable("WORKER"))
                .put("token", variable("TOKEN"))
                .put("phase", "starting"));
        var ticks = new Thread(worker::tick);
        ticks.setDaemon(true);
        ticks.start();
        while (true) {
            Frames.Frame frame = Frames.read(worker.channel);
            worker.hear(
                    frame.type(),
                    frame.message(),
                    StandardCharsets.UTF_8.decode(frame.body()).toString());
        }
    }

    private static String variable(String name) {
        return System.getenv("LENDSTREAM_AFE_" + name);
    }

    /** It reports again and again, as steps of all ranks would, because it does not know when all have passed. */
    private void tick() {
        try {
            while (true) {
                Thread.sleep(TICK_MILLIS);
                if (seat() > 0) {
                    say(message("full", seat()).put("nanos", System.nanoTime()));
                    say(message("progress", seat()).put("step", seat()).put("replicas", 1));
                }
            }
        } catch (IOException | InterruptedException e) {
            System.exit(1);
        }
    }

    private synchronized long seat() {
        return seat;
    }

    private synchronized void hear(String type, JsonNode message, String value) throws IOException {
        long epoch = message.path("epoch").asLong();
        switch (type) {
            case "welcome" -> {
                phase = "ready";
                say(message("ready", 0));
            }
            case "prepare" -> {
                kind = message.path("kind").asText();
                ask(epoch, "set", "v");
                ask(epoch, "get", "");
            }
            case "answer" -> {
                if (value.equals("v")) {
                    long built = message.path("id").asLong();
                    say(message("prepared", built));
                    if (!kind.equals("change")) {
                        pass(built, "training");
                    }
                }
            }
            case "commit" -> pass(epoch, message.path("leave").asBoolean() ? "leaving" : "training");
            case "done" -> endIf(phase.equals("leaving"));
            case "abort" -> {
                say(message("aborted", epoch).put("phase", phase));
                if (phase.equals("training")) {
                    say(message("broken", seat).put("step", passed));
                    phase = "broken";
                    seat = 0;
                }
            }
            default -> endIf(true);
        }
    }

    private void ask(long epoch, String operation, String value) throws IOException {
        ObjectNode request = message("store", epoch)
                .put("id", epoch)
                .put("operation", operation)
                .put("timeoutMillis", 10_000);
        request.putArray("keys").add("k");
        write(request, value);
    }

    private void pass(long epoch, String next) throws IOException {
        phase = next;
        passed = epoch;
        seat = next.equals("training") ? epoch : 0;
        say(message("boundary", epoch).put("step", epoch));
    }

    private static void endIf(boolean isOver) {
        if (isOver) {
            System.exit(0);
        }
    }

    private ObjectNode message(String type, long epoch) {
        return Frames.JSON.createObjectNode().put("type", type).put("epoch", epoch);
    }

    private void say(ObjectNode message) throws IOException {
        write(message, "");
    }

    private synchronized void write(ObjectNode message, String value) throws IOException {
        Frames.write(channel, message, value.getBytes(StandardCharsets.UTF_8));
    }
}
