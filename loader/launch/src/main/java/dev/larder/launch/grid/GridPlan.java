package dev.larder.launch.grid;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A grid: a command, and its parameters. The grid has a job for each combination of their values.
 *
 * @param command its words, with {@code {name}} in place of a value
 */
public record GridPlan(List<Axis> axes, List<String> command) {
    /** Checks that the command names no other parameters, and that no two share a name or a variable. */
    public GridPlan {
        axes = List.copyOf(axes);
        command = List.copyOf(command);
        if (command.isEmpty()) {
            throw Failure.of(ErrorCode.USAGE, "no command to run").remedy("give it after --");
        }
        Map<String, Axis> byVariable = new HashMap<>();
        long jobs = 1;
        for (Axis axis : axes) {
            Axis other = byVariable.put(axis.variable(), axis);
            if (other != null) {
                throw Failure.of(ErrorCode.USAGE, "two parameters share a variable")
                        .with("variable", axis.variable())
                        .with("parameters", other.name() + ", " + axis.name())
                        .remedy("rename one, or give the values of both in one parameter");
            }
            jobs *= axis.values().size();
            if (jobs > Axis.MOST_VALUES) {
                throw Failure.of(ErrorCode.USAGE, "a grid has too many jobs")
                        .with("most", Axis.MOST_VALUES)
                        .remedy("give fewer values");
            }
        }
        new CommandTemplate(command).require(axes);
    }

    /** Returns a job for each combination of values; one job if there are no parameters. */
    public List<GridJob> jobs() {
        CommandTemplate template = new CommandTemplate(command);
        List<Map<String, String>> points = List.of(Map.of());
        for (Axis axis : axes) {
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> point : points) {
                for (String value : axis.values()) {
                    Map<String, String> next = new LinkedHashMap<>(point);
                    next.put(axis.name(), value);
                    longer.add(next);
                }
            }
            points = longer;
        }
        List<GridJob> jobs = new ArrayList<>();
        for (Map<String, String> point : points) {
            jobs.add(new GridJob(jobs.size() + 1, point, template.with(point)));
        }
        return jobs;
    }
}
