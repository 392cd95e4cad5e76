import { arrowStream, openSegment, trajectoryTable, creditTable } from '#lib/columnar';
import { openCredits, creditPlaces } from '#lib/analysis';
