package io.lendstream.stack;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.Arrays;

/**
 * The first class of every child process: runs another main class, and ends the process when its parent is gone.
 *
 * <p>The parent holds the other end of this process's standard input and never writes to it, so end of input means
 * that the parent asks for the end or was killed. Depends on the JDK only, so that it fits on any class path.
 */
public final class ChildMain {

    /** The time that shutdown hooks may take. */
    static final Duration GRACE = Duration.ofSeconds(10);

    private static final int HALTED = 70;

    private ChildMain() {}

    public static void main(String[] args) throws Throwable {
        leaveCtrlCToTheParent();
        daemon("parent-watch", ChildMain::endWithTheParent);
        var main = Class.forName(args[0]).getMethod("main", String[].class);
        try {
            main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void endWithTheParent() {
        try {
            while (System.in.read() >= 0) {
                // the parent never writes; only the end matters
            }
        } catch (IOException e) {
            // a broken pipe means the same as its end
        }
        daemon("halt-after-grace", ChildMain::haltAfterGrace);
        System.exit(0);
    }

    private static void haltAfterGrace() {
        try {
            Thread.sleep(GRACE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(HALTED);
    }

    /**
     * Ignores Ctrl-C: a terminal sends it to all children at once, but the parent stops them one by one. Uses
     * reflection, as javac warns about {@code sun.misc.Signal}.
     */
    private static void leaveCtrlCToTheParent() {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object interrupt = signal.getConstructor(String.class).newInstance("INT");
            Object ignore = handler.getField("SIG_IGN").get(null);
            signal.getMethod("handle", signal, handler).invoke(null, interrupt, ignore);
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            // a JVM without this class: children then end with the parent, but not one by one
        }
    }

    private static void daemon(String name, Runnable body) {
        var thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }
}
