package io.lendstream.actuator.driver;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.event.TrainingProgress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** All that a driver told. */
final class RecordingListener implements DriverListener {
    private final List<DriverEvent> deeds = new CopyOnWriteArrayList<>();
    private final List<TrainingProgress> progress = new CopyOnWriteArrayList<>();

    @Override
    public void tell(DriverEvent driverEvent) {
        deeds.add(driverEvent);
    }

    @Override
    public void tell(TrainingProgress said) {
        progress.add(said);
    }

    List<DriverEvent> deeds() {
        return List.copyOf(deeds);
    }

    List<TrainingProgress> progress() {
        return List.copyOf(progress);
    }
}
