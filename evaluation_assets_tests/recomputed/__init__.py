"""The figures of a report computed in a second way, from verdict rows and the files of the drop."""
