package io.lendstream.scheduler;

/** A scheduler as it was before its topology's version was raised the last time. */
public final class OlderScheduler {
    private OlderScheduler() {}

    public static void main(String[] arguments) {
        System.exit(SchedulerMain.execute(new SchedulerMain(SchedulerTopology.VERSION - 1), arguments));
    }
}
