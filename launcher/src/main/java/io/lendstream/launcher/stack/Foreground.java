package io.lendstream.launcher.stack;

/** A child that has this process's terminal to itself, and ends with it. */
public final class Foreground {

    private Foreground() {}

    /** Runs it to its end and returns its exit code. */
    public static int run(Child child) throws InterruptedException {
        Process process = ChildProcess.inForeground(child);
        var stop = new Thread(() -> ChildProcess.stop(process, ChildMain.GRACE), "foreground-shutdown");
        Runtime.getRuntime().addShutdownHook(stop);
        int code = process.waitFor();
        try {
            Runtime.getRuntime().removeShutdownHook(stop);
        } catch (IllegalStateException e) {
            // this is the shutdown
        }
        return code;
    }
}
