package io.lendstream.launcher.architecture.broken.core;

/** Leaves the order of things to chance. */
final class StartsAThread {

    private StartsAThread() {}

    static void start() {
        new Thread(StartsAThread::start).start();
    }
}
